import type { DaemonCommand } from '@cairn/mount/beside'

/** The command line that starts this very program with other words. */
export function thisProgram(...words: string[]): DaemonCommand {
  return { file: process.execPath, args: [...process.execArgv, process.argv[1]!, ...words] }
}
