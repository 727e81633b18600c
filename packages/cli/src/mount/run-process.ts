import { daemonOf, processCommand, type SupervisorRole } from './processes.ts'

/** Gives the exit code. A supervisor may be told to stop at once. */
export async function runMountProcess(
  role: string | undefined,
  word: string | undefined,
): Promise<number> {
  // Each by itself: a supervisor needs little of what a daemon does, and loading all of it takes as long as Node does.
  if (role === 'daemon') return (await import('@cairn/mount/daemon')).daemonMain()
  if (role === 'vault-daemon') return runVaultDaemon()
  const { supervisorMain } = await import('@cairn/mount/supervisor')
  const own = role as SupervisorRole
  const commands = { daemon: daemonOf(own), supervisor: processCommand(own) }
  return supervisorMain(commands, { isStopping: word === 'stop' })
}

async function runVaultDaemon(): Promise<number> {
  const { vaultDaemonMain } = await import('@cairn/mount/vault-daemon')
  return vaultDaemonMain((await import('./vault-source.ts')).openSource)
}
