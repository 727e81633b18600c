/** For the edges of this program alone: everything else throws, and `exit.ts` says what and with which code. */
export function endProcess(exitCode: number): never {
  process.exit(exitCode)
}
