import type { ProviderConfig } from '../config/provider-config.ts'
import type { HarnessPlace } from '../config/placement.ts'
import type { Instance, InstanceStore } from '../instances/instance-store.ts'
import type { HeldMachine, MachineProvider } from './held-machine.ts'

export interface ReservedMachineParts {
  readonly key: string
  readonly config: ProviderConfig
  readonly placement: HarnessPlace | undefined
  readonly provider: MachineProvider
  readonly store: InstanceStore
  readonly now: () => number
}

/** Each means that another process was quicker; one of them wins every time. */
const attemptsMax = 10

/** One machine under one key, however many processes ask for it. */
export class ReservedMachine {
  readonly #parts: ReservedMachineParts

  constructor(parts: ReservedMachineParts) {
    this.#parts = parts
  }

  /** The same for every harness of the same machine. */
  get id(): string {
    return JSON.stringify([this.#parts.provider.name, this.#parts.key])
  }

  /** The machine that is reserved, resumed; a new one where there is none, or its time is over. */
  async acquire(): Promise<HeldMachine> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const machine = await this.#attempt()
      if (machine !== undefined) return machine
    }
    throw new Error(
      `cannot reserve a sandbox under '${this.#parts.key}': other processes replace it each time. Try again.`,
    )
  }

  /** The machine that is reserved, if there is one; makes none. */
  async find(): Promise<HeldMachine | undefined> {
    const { provider } = this.#parts
    const instance = await this.#find()
    if (instance === undefined || this.#isOver(instance)) return undefined
    return provider.connect(instance.externalId)
  }

  /** Ends it and its reservation. False when there was none. */
  async end(): Promise<boolean> {
    const { key, provider, store } = this.#parts
    const instance = await this.#find()
    if (instance === undefined) return false
    const machine = await provider.connect(instance.externalId)
    // First the machine: a row without one is corrected by the next call, a machine without a row never.
    await machine?.kill()
    await store.release(provider.name, key, instance.externalId)
    return true
  }

  /** Ends it when its time is over, pauses it when it is idle. `isBusy` is asked before a pause. */
  async lookAfter(isBusy: (machine: HeldMachine) => Promise<boolean>): Promise<void> {
    const { provider, config, now } = this.#parts
    const instance = await this.#find()
    if (instance === undefined) return
    if (this.#isOver(instance)) return void (await this.end())
    if (now() - instance.lastUsedAtMs < config.lifecycle.idleTimeoutSeconds * 1000) return
    const machine = await provider.findAwake(instance.externalId)
    if (machine !== undefined && !(await isBusy(machine))) await machine.sandbox.pause()
  }

  /** How long the machine may still live. */
  async leftMs(): Promise<number> {
    const instance = await this.#find()
    const { lifecycle } = this.#parts.config
    const createdAtMs = instance?.createdAtMs ?? this.#parts.now()
    return createdAtMs + lifecycle.maxLifetimeSeconds * 1000 - this.#parts.now()
  }

  async #attempt(): Promise<HeldMachine | undefined> {
    const { key, provider, store, now } = this.#parts
    const instance = await this.#find()
    if (instance === undefined) return this.#create()
    if (this.#isOver(instance)) {
      await this.end()
      return undefined
    }
    const machine = await provider.connect(instance.externalId)
    if (machine === undefined) {
      await store.release(provider.name, key, instance.externalId)
      return undefined
    }
    return (await store.touch({ ...instance, lastUsedAtMs: now() })) ? machine : undefined
  }

  async #create(): Promise<HeldMachine | undefined> {
    const { key, provider, store, placement, now } = this.#parts
    const machine = await provider.create()
    const instance: Instance = {
      provider: provider.name,
      reservationKey: key,
      externalId: machine.externalId,
      ...(placement && { workspace: mountedIn(placement) }),
      createdAtMs: now(),
      lastUsedAtMs: now(),
    }
    const isOurs = await store.claim(instance).catch(async (error: unknown) => {
      await machine.kill()
      throw error
    })
    if (isOurs) return machine
    await machine.kill()
    return undefined
  }

  async #find(): Promise<Instance | undefined> {
    const { key, provider, store, placement } = this.#parts
    const instance = await store.find(provider.name, key)
    const wanted = placement && mountedIn(placement)
    if (instance !== undefined && JSON.stringify(instance.workspace) !== JSON.stringify(wanted))
      throw new Error(
        `cannot use the sandbox reserved under '${key}': it has ${instance.workspace?.name ?? 'no workspace'} ` +
          `mounted, and ${wanted?.name ?? 'no workspace'} was asked for. Set another options.reservationKey.`,
      )
    return instance
  }

  #isOver({ createdAtMs }: Instance): boolean {
    const { config, now } = this.#parts
    return now() - createdAtMs >= config.lifecycle.maxLifetimeSeconds * 1000
  }
}

function mountedIn({ workspace }: HarnessPlace): NonNullable<Instance['workspace']> {
  const { name, layer, mountPath } = workspace
  return { name, ...(layer !== undefined && { layer }), mountPath }
}
