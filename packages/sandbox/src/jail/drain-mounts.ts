import { readdirSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from './processes.ts'

const lookMs = 5
/** The kernel's number for /dev/fuse. */
const fuseDevice = (10 << 8) | 229
const sigtermBit = 1n << 14n

export interface JailProcesses {
  /** All but the first one. */
  list(): readonly number[]
  /** They may be frozen. */
  thaw(): Promise<void>
}

/**
 * Ends everything in a jail but what serves FUSE mounts inside, asks that to unmount, and waits until it has, for so long.
 * A mount hands in what it holds before it ends, so no file is lost that was closed before the jail is killed.
 */
export async function drainMounts(processes: JailProcesses, timeoutMs: number): Promise<void> {
  const servers = new Set(processes.list().filter(servesMount))
  // Others would only die of it. The daemon of a workspace ignores it: its supervisor acts.
  const listening = [...servers].filter(catchesSigterm)
  if (listening.length === 0) return
  const deadline = performance.now() + timeoutMs
  await killOthers(processes, servers, deadline)
  await processes.thaw()
  for (const pid of listening) send(pid, 'SIGTERM')
  const isServed = (): boolean => processes.list().some((pid) => servers.has(pid))
  while (isServed() && performance.now() < deadline) await sleep(lookMs)
}

/** Until none is left: what is not dead yet keeps a mount busy, and may start more. */
async function killOthers(
  processes: JailProcesses,
  servers: ReadonlySet<number>,
  deadline: number,
): Promise<void> {
  for (;;) {
    const others = processes.list().filter((pid) => !servers.has(pid))
    if (others.length === 0 || performance.now() > deadline) return
    for (const pid of others) send(pid, 'SIGKILL')
    await sleep(lookMs)
  }
}

function servesMount(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some(
      (fd) => statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false })?.rdev === fuseDevice,
    )
  } catch {
    // Ended meanwhile.
    return false
  }
}

function catchesSigterm(pid: number): boolean {
  try {
    const [, mask = '0'] = /^SigCgt:\t(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
    return (BigInt(`0x${mask}`) & sigtermBit) !== 0n
  } catch {
    return false
  }
}
