import { StartingMount } from './starting-mount.ts'

let early: Promise<StartingMount> | undefined

/**
 * Starts the daemon of a mount before the arguments are parsed: it loads while this process does.
 * If it is not used, it ends with this process, having done nothing.
 */
export function startEarly(argv: readonly string[]): void {
  if (!argv[1]?.includes(':') || argv.includes('--foreground')) return
  early = StartingMount.start()
  // Reported to the caller that takes it.
  early.catch(() => undefined)
}

export function takeStarting(): Promise<StartingMount> {
  const starting = early ?? StartingMount.start()
  early = undefined
  return starting
}
