import type { DaemonCommand } from '@cairn/mount/beside'
import { thisProgram } from '../this-program.ts'

/** The word that makes this program one of a mount's processes. It is not a command for users. */
export const processWord = '__mount'

/** The daemons of a workspace's mount and of a vault's. */
const daemons = { supervisor: 'daemon', 'vault-supervisor': 'vault-daemon' } as const
export type SupervisorRole = keyof typeof daemons
export type ProcessRole = SupervisorRole | (typeof daemons)[SupervisorRole]

/** What a supervisor of that kind keeps running. */
export function daemonOf(role: SupervisorRole): DaemonCommand {
  return processCommand(daemons[role])
}

/** This program, told to be a supervisor or a daemon. */
export function processCommand(role: ProcessRole): DaemonCommand {
  return thisProgram(processWord, role)
}
