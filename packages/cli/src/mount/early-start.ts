import { accessSync, constants } from 'node:fs'
import { StartingMount } from './starting-mount.ts'

let early: Promise<StartingMount> | undefined

/**
 * Starts the daemon of a mount before the arguments are parsed: it loads while this process does.
 * If it is not used, it ends with this process, having done nothing.
 */
export function startEarly(argv: readonly string[]): void {
  if (!(argv[0] === 'exec' ? isExecHere(argv) : isMountHere(argv))) return
  early = StartingMount.start()
  // Reported to the caller that takes it.
  early.catch(() => undefined)
}

function isMountHere(argv: readonly string[]): boolean {
  return argv[1]?.includes(':') === true && !argv.includes('--foreground')
}

/** What follows `--` is the command's own. */
function isExecHere(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const other = /^--(?:sandbox|copy|attempts)\b/
  return end > 0 && !argv.slice(0, end).some((word) => other.test(word)) && mayMount()
}

/** Whether this user may try. A container may have the device and still forbid mounts. */
export function mayMount(): boolean {
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

export function takeStarting(): Promise<StartingMount> {
  const starting = early ?? StartingMount.start()
  early = undefined
  return starting
}
