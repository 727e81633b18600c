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

export async function runMountProcess(role: string | undefined): Promise<void> {
  const { daemonMain, supervisorMain } = await import('@cairn/mount')
  if (role === 'daemon') await daemonMain()
  else await supervisorMain(processCommand('daemon'))
}
