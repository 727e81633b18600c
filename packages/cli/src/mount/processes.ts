import type { DaemonCommand } from '@cairn/mount/beside'

/** The word that makes this program one of a mount's processes. Not a command: nobody types it. */
export const processWord = '__mount'

/** Of a workspace's mount, and of a vault's. */
export type ProcessRole = 'supervisor' | 'daemon' | 'vault-supervisor' | 'vault-daemon'

/** This program, told to be a supervisor or a daemon. */
export function processCommand(role: ProcessRole): DaemonCommand {
  return {
    file: process.execPath,
    args: [...process.execArgv, process.argv[1]!, processWord, role],
  }
}
