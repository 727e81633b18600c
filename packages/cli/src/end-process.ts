/** Ends a process that is none of a command: one of a mount's. */
export function endProcess(exitCode: number): never {
  process.exit(exitCode)
}
