import { E2BSandbox, type E2BSandboxOptions, isGone } from '@cairn/sandbox'
import { e2bNetworkOf } from '../config/network.ts'
import type { HarnessPlace } from '../config/placement.ts'
import type { ProviderConfig } from '../config/provider-config.ts'
import type { HeldMachine, MachineProvider } from './held-machine.ts'

export type E2BPlace = Pick<
  E2BSandboxOptions,
  'domain' | 'apiUrl' | 'sandboxUrl' | 'serverInside' | 'drainTimeoutMs'
>

/** A machine without a reservation outlives its only command by so much, at most. */
const spareMs = 120_000

/** Machines at E2B, or at a server that speaks E2B. */
export class E2BMachines implements MachineProvider {
  readonly name = 'e2b'
  readonly #options: E2BSandboxOptions
  readonly #known = new Map<string, E2BSandbox>()

  constructor(
    config: ProviderConfig,
    placement: HarnessPlace | undefined,
    place: E2BPlace,
    /** URLs that machines have to reach whatever their network mode. */
    needed: readonly string[],
  ) {
    const { network, persistent, lifecycle, timeout, options } = config
    const { apiKey, template } = options
    this.#options = {
      ...place,
      ...(apiKey !== undefined && { apiKey }),
      ...(template !== undefined && { template }),
      ...(placement && { workspace: placement.workspace }),
      ...(network.mode !== 'allow-all' && { network: e2bNetworkOf(network, needed) }),
      timeoutMs: persistent ? lifecycle.idleTimeoutSeconds * 1000 : timeout * 1000 + spareMs,
      onTimeout: persistent ? 'pause' : 'kill',
    }
  }

  async create(): Promise<HeldMachine> {
    const sandbox = new E2BSandbox(this.#options)
    await sandbox.init()
    return this.#hold(sandbox)
  }

  async connect(externalId: string): Promise<HeldMachine | undefined> {
    const known = this.#known.get(externalId)
    const sandbox = known ?? new E2BSandbox({ ...this.#options, sandboxId: externalId })
    try {
      // A request to connect resumes a machine that is paused, and begins its time anew.
      await (known === undefined ? sandbox.init() : sandbox.resume())
    } catch (error) {
      this.#known.delete(externalId)
      if (isGone(error)) return undefined
      throw error
    }
    // The configuration may have changed since the machine was made.
    await sandbox.getE2BInstance().updateNetwork(this.#options.network ?? {})
    return this.#hold(sandbox)
  }

  /** E2B pauses it after the idle time. */
  findAwake(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  async close(): Promise<void> {
    for (const sandbox of this.#known.values()) await sandbox.detach()
    this.#known.clear()
  }

  #hold(sandbox: E2BSandbox): HeldMachine {
    const externalId = sandbox.getSandboxId()
    this.#known.set(externalId, sandbox)
    return {
      sandbox,
      externalId,
      kill: async () => {
        await sandbox.dispose()
        this.#known.delete(externalId)
      },
      extend: (ms) => sandbox.setTimeout(ms),
    }
  }
}
