import { readdirSync, readlinkSync } from 'node:fs'

/** All in the same pid namespace as the first, but for the first. Of `among`, or of all of this machine. */
export function processesOf(first: number, among?: readonly number[]): number[] {
  const namespace = namespaceOf(first)
  if (namespace === undefined) return []
  const all = among ?? readdirSync('/proc').map(Number).filter(Number.isInteger)
  return all.filter((pid) => pid !== first && namespaceOf(pid) === namespace)
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    // It has ended, or belongs to another user.
    return undefined
  }
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Ended meanwhile.
  }
}
