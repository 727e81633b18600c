import type { DaemonCommand } from '@cairn/mount'

/** The word that makes this program one of a mount's processes. Not a command: nobody types it. */
export const processWord = '__mount'

/** This program, told to be a supervisor or a daemon. */
export function processCommand(role: 'supervisor' | 'daemon'): DaemonCommand {
  return {
    file: process.execPath,
    args: [...process.execArgv, process.argv[1]!, processWord, role],
  }
}

/** Gives the exit code. */
export async function runMountProcess(role: string | undefined): Promise<number> {
  const { daemonMain, supervisorMain } = await import('@cairn/mount')
  return role === 'daemon' ? daemonMain() : supervisorMain(processCommand('daemon'))
}
