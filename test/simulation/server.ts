import type { Branch } from '@cairn/core'
import {
  type Clock,
  type ClientSocket,
  MessagePieces,
  serveConnection,
  type ServedConnection,
  WorkspaceKeeper,
} from '@cairn/server'
import type { Chance } from '../model/chance.ts'
import type { Conditions } from './conditions.ts'
import type { Host } from './network.ts'
import type { Scheduler } from './scheduler.ts'
import { type Disk, makeWay } from './stores.ts'

export const owner = 'owner_1'
const key = { id: 'key_1', owner }

type Paths = Awaited<ReturnType<WorkspaceKeeper['open']>>['paths']
/** What is in a workspace before there is any server. */
export type MakeFirst = Parameters<Paths['change']>[2]

export interface ServerParts {
  readonly name: string
  readonly disk: Disk
  readonly scheduler: Pick<Scheduler, 'nowMs' | 'after' | 'sleep'>
  readonly chance: Chance
  readonly conditions: Pick<Conditions, 'leaseMs' | 'lookMs' | 'storeDelayMs' | 'skewMs'>
  /** No other server uses its stores. */
  readonly isAlone?: boolean
  readonly failsOneIn: () => number
}

/** One run of a server's process, from its start to its crash. */
interface Life {
  readonly workspaces: WorkspaceKeeper
  readonly pieces: MessagePieces
  readonly died: PromiseWithResolvers<'died'>
}

/** A server: it keeps nothing in memory that a crash may not take. */
export class Server implements Host {
  readonly name: string
  readonly #parts: ServerParts
  readonly #skewMs: number
  #life: Life | undefined

  constructor(parts: ServerParts) {
    this.name = parts.name
    this.#parts = parts
    this.#skewMs = parts.chance.below(2 * parts.conditions.skewMs + 1) - parts.conditions.skewMs
  }

  get isUp(): boolean {
    return this.#life !== undefined
  }

  start(): void {
    const { disk, scheduler, chance, conditions, failsOneIn, isAlone } = this.#parts
    const died = Promise.withResolvers<'died'>()
    const isDead = (): boolean => this.#life?.died !== died
    const delayMs = conditions.storeDelayMs
    const way = makeWay({ scheduler, chance, delayMs, failsOneIn, isDead })
    const { stores, leases, notes, locks, layers, directory } = disk.open(way)
    const clock = this.#makeClock(isDead)
    const { leaseMs, lookMs } = conditions
    const workspaces = new WorkspaceKeeper({
      directory,
      storesOf: () => stores,
      clock,
      leases: { store: leases, notes, clock, leaseMs, lookMs },
      locks,
      layers,
      isShared: !isAlone,
    })
    this.#life = { workspaces, pieces: new MessagePieces(), died }
  }

  crash(): void {
    this.#life?.died.resolve('died')
    this.#life = undefined
  }

  accept(connection: ClientSocket): ServedConnection {
    const { leaseMs } = this.#parts.conditions
    return serveConnection(connection, { ...this.#life!, leaseMs }, key)
  }

  /** Does something inside the server, unless it dies first. */
  async within<T>(work: (workspaces: WorkspaceKeeper) => Promise<T>): Promise<T | 'died'> {
    if (!this.#life) return 'died'
    return Promise.race([work(this.#life.workspaces), this.#life.died.promise])
  }

  branch(): Promise<Branch | 'died'> {
    return this.within(async (workspaces) => (await workspaces.open(owner, 'w')).branch('main'))
  }

  #makeClock(isDead: () => boolean): Clock {
    const { scheduler } = this.#parts
    const nowMs = (): number => 1_790_000_000_000 + scheduler.nowMs + this.#skewMs
    let ticks = 0
    return {
      nowMs,
      sleep: (ms) =>
        new Promise((resolve) =>
          scheduler.after(ms, () => {
            if (!isDead()) resolve()
          }),
        ),
      now: () => ({ sec: Math.floor(nowMs() / 1000), nsec: ticks++ }),
    }
  }
}

/** Clients number their files by tags, requests by what the server gives them. */
export async function foundWorkspace(
  disk: Disk,
  tagsMax: number,
  makeFirst: MakeFirst | undefined,
  maxFiles?: number,
): Promise<string> {
  const { stores, leases, notes, locks, layers, directory } = disk.open()
  const clock = { nowMs: () => 0, sleep: async () => {}, now: () => ({ sec: 0, nsec: 0 }) }
  const options = { store: leases, notes, clock, leaseMs: 1, lookMs: 1 }
  const storesOf = (): typeof stores => stores
  const parts = { directory, storesOf, clock, leases: options, locks, layers }
  const workspaces = new WorkspaceKeeper(parts)
  const { id } = await workspaces.create(owner, 'w')
  if (maxFiles !== undefined) await workspaces.setQuota(owner, 'w', { maxFiles })
  if (!makeFirst) return id
  const workspace = await workspaces.open(owner, 'w')
  await workspace.takeInodes(tagsMax)
  const asker = { actor: 'key_1' as never, idempotencyKey: undefined }
  await workspace.paths.change(await workspace.branch('main'), asker, makeFirst)
  return id
}
