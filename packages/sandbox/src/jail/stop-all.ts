import { processesOf, send } from './processes.ts'

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
