import { hostname } from 'node:os'
import { isRunning, LocalSandbox, type LocalSandboxOptions, markProcess } from '@cairn/sandbox'
import { egressOf } from '../config/network.ts'
import type { HarnessPlace } from '../config/placement.ts'
import type { ProviderConfig } from '../config/provider-config.ts'
import type { HeldMachine, MachineProvider } from './held-machine.ts'

export type LocalPlace = Pick<
  LocalSandboxOptions,
  'base' | 'binds' | 'directory' | 'limits' | 'mountDaemon' | 'drainTimeoutMs'
>

/** A jail ends with its process, so every harness of the process may use it and no other process can. */
const jails = new Map<string, LocalSandbox>()

interface Whereabouts {
  readonly host: string
  readonly process: NonNullable<ReturnType<typeof markProcess>>
  readonly jail: string
}

/** Machines that are jails of this computer. */
export class LocalMachines implements MachineProvider {
  readonly name = 'local'
  readonly #options: LocalSandboxOptions

  constructor(config: ProviderConfig, placement: HarnessPlace | undefined, place: LocalPlace) {
    const egress = egressOf(config.network)
    const { memoryLimit } = config
    this.#options = {
      ...place,
      ...(placement && { workspace: placement.workspace }),
      ...(egress && { egress }),
      ...(memoryLimit !== undefined && {
        limits: { ...place.limits, memoryBytes: memoryLimit * (1 << 20) },
      }),
    }
  }

  async create(): Promise<HeldMachine> {
    const sandbox = new LocalSandbox(this.#options)
    await sandbox.init()
    const whereabouts = {
      host: hostname(),
      process: markProcess(process.pid),
      jail: sandbox.getSandboxId(),
    }
    const externalId = JSON.stringify(whereabouts)
    jails.set(externalId, sandbox)
    return hold(externalId, sandbox)
  }

  async connect(externalId: string): Promise<HeldMachine | undefined> {
    const sandbox = jails.get(externalId)
    if (sandbox === undefined) return refuseOthers(externalId)
    const { state } = await sandbox.status()
    if (state === 'paused') await sandbox.resume()
    if (state !== 'ended') return hold(externalId, sandbox)
    jails.delete(externalId)
    return undefined
  }

  async findAwake(externalId: string): Promise<HeldMachine | undefined> {
    const sandbox = jails.get(externalId)
    if (sandbox === undefined) return undefined
    const { state } = await sandbox.status()
    return state === 'running' ? hold(externalId, sandbox) : undefined
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** Undefined for a machine that ended with its process; throws for one of a process that lives. */
function refuseOthers(externalId: string): undefined {
  const { host, process: other } = JSON.parse(externalId) as Whereabouts
  if (host === hostname() && !isRunning(other)) return undefined
  throw new Error(
    `cannot use the reserved sandbox: it is a jail of process ${other.pid} on ${host}, and ends with that. ` +
      'Call from there; or let processes share machines with provider e2b and `cairn sandbox serve`.',
  )
}

function hold(externalId: string, sandbox: LocalSandbox): HeldMachine {
  return {
    sandbox,
    externalId,
    kill: async () => {
      await sandbox.dispose()
      jails.delete(externalId)
    },
    extend: () => Promise.resolve(),
  }
}
