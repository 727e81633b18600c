import { StartingMount } from './starting-mount.ts'

let early: Promise<StartingMount> | undefined

/**
 * Starts the daemon of a mount before it is even known that the words make sense: it loads while this process does. If
 * nobody takes it, it ends with this process, having done nothing.
 */
export function startEarly(argv: readonly string[]): void {
  if (!argv[1]?.includes(':') || argv.includes('--foreground')) return
  early = StartingMount.start()
  // Told to whoever takes it.
  early.catch(() => undefined)
}

export function takeStarting(): Promise<StartingMount> {
  const starting = early ?? StartingMount.start()
  early = undefined
  return starting
}
