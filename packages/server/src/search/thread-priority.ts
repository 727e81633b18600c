import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Lets the event loop go before this thread. Linux numbers threads like processes; elsewhere they stay as they are. */
export function lowerPriority(niceness: number): void {
  if (process.platform !== 'linux') return
  try {
    const [thread] = readlinkSync('/proc/thread-self').split('/').slice(-1)
    setPriority(Number(thread), niceness)
  } catch {
    // A sandbox may forbid it, and it is only a courtesy.
  }
}
