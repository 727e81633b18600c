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

/** Gives the exit code. */
export async function runMountProcess(role: string | undefined): Promise<number> {
  // Each by itself: a supervisor needs little of what a daemon does, and loading all of it takes as long as Node does.
  if (role === 'daemon') return (await import('@cairn/mount/daemon')).daemonMain()
  if (role === 'vault-daemon') return runVaultDaemon()
  const daemon = role === 'vault-supervisor' ? 'vault-daemon' : 'daemon'
  return (await import('@cairn/mount/supervisor')).supervisorMain(processCommand(daemon))
}

async function runVaultDaemon(): Promise<number> {
  const { vaultDaemonMain } = await import('@cairn/mount/vault-daemon')
  return vaultDaemonMain((await import('./vault-source.ts')).openSource)
}
