import { readdirSync, readlinkSync } from 'node:fs'

/** Without cgroups: stops one process after the other, until none was started meanwhile. Process 1 only waits anyway. */
export function stopAll(first: number): void {
  const stopped = new Set<number>()
  for (;;) {
    const running = processesOf(first).filter((pid) => !stopped.has(pid))
    if (running.length === 0) return
    for (const pid of running) {
      send(pid, 'SIGSTOP')
      stopped.add(pid)
    }
  }
}

export function continueAll(first: number): void {
  for (const pid of processesOf(first)) send(pid, 'SIGCONT')
}

/** All in the same pid namespace but the first. */
function processesOf(first: number): number[] {
  const namespace = namespaceOf(first)
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== first && namespaceOf(pid) === namespace)
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    // Ended, or somebody else's.
    return undefined
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Ended meanwhile.
  }
}
