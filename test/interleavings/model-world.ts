import type { Reservations } from '@cairn/core'
import { type BranchId, type ByteString, isFsError, rootIno } from '@cairn/protocol'
import { appendFile } from '@cairn/server/testing'
import { Chance } from '../model/chance.ts'
import { owner, Server } from '../simulation/server.ts'
import { Disk } from '../simulation/stores.ts'
import { type JudgedWorld, Promises } from '../simulation/trees/promises.ts'
import { createOp } from '../simulation/trees/tree-client.ts'
import { inodeOf, ModelClient } from './model-client.ts'
import { judgeHolders } from './holders.ts'
import { type Place, places, type Scenario, type Trouble, type Who, whos } from './scenario.ts'
import { Timers } from './timers.ts'
import { Way } from './way.ts'

type Workspaces = Parameters<Parameters<Server['within']>[0]>[0]
type Workspace = Awaited<ReturnType<Workspaces['open']>>
type Keeper = ReturnType<Workspace['lease']>
type LeaseRecord = Keeper['record']

/** No path of steps is as long: a session runs out where a step says so. */
const leaseMs = 1e9
/** Timers that are due later than this do not fire. */
const soonMs = 6000
const contestedMs = 301
const tagsMax = 100_000
/** Changes that make a session one that works. */
const changesMin = 3

/** Real sessions, mounts and a real server. All that happens is what `take` is told. */
export class ModelWorld implements JudgedWorld<ModelClient> {
  readonly promises: Promises<ModelClient>
  readonly clients: ModelClient[] = []
  readonly disk: Disk = new Disk()
  readonly timers: Timers = new Timers()
  readonly scenario: Scenario
  readonly #server: Server
  /** What may still go wrong, and be asked for. */
  readonly troubles: Trouble[]
  readonly requests: Place[]
  pendingRequests = 0
  /** A recall took too long, so that all holders were passed over. */
  isOverdue = false
  /** A timer fired while a session was asked for something: it was waited for long enough, perhaps. */
  mayPassOver = false
  workspace!: Workspace
  keeper!: Keeper
  reservations!: Reservations

  private constructor(scenario: Scenario) {
    this.scenario = scenario
    this.troubles = [...(scenario.troubles ?? [])]
    this.requests = [...(scenario.requests ?? [])]
    this.promises = new Promises<ModelClient>(this)
    this.#server = new Server({
      name: 's',
      disk: this.disk,
      scheduler: this.timers,
      chance: new Chance(1),
      conditions: { leaseMs, lookMs: 100, storeDelayMs: 0, skewMs: 0 },
      failsOneIn: () => 0,
      isAlone: true,
    })
  }

  /** All clients are connected, and those hold the lease of whom the scenario says so. */
  static async begin(scenario: Scenario): Promise<ModelWorld> {
    const world = new ModelWorld(scenario)
    await world.#begin()
    return world
  }

  async #begin(): Promise<void> {
    const { holders, programs, before = [] } = this.scenario
    this.#server.start()
    await this.#found()
    for (const who of whos.filter((each) => programs[each] || holders.includes(each))) {
      this.clients.push(this.#makeClient(who))
      await this.settle()
    }
    // As after some changes that the server decided.
    for (const who of holders)
      for (let left = changesMin; left > 0; left--)
        this.keeper.sharing.noteWriter(this.#find(who).id)
    await this.settle()
    if (!holders.every((who) => this.#find(who).mount.standing === 'lease'))
      throw new Error('not all of them hold the lease')
    for (const [who, action] of before) {
      void this.#find(who).run(action)
      await this.settle()
    }
  }

  async #found(): Promise<void> {
    const workspace = await this.#server.within(async (workspaces) => {
      await workspaces.create(owner, 'w')
      const { maxFiles } = this.scenario
      if (maxFiles !== undefined) await workspaces.setQuota(owner, 'w', { maxFiles })
      return workspaces.open(owner, 'w')
    })
    if (workspace === 'died') throw new Error('the server is down')
    const branch = await workspace.branch('main')
    await this.promises.watch(branch.id)
    await workspace.takeInodes(tagsMax)
    await workspace.paths.change(branch, asker('found'), (edit) => {
      for (const place of places) {
        edit.push(createOp(inodeOf(place), rootIno, place, 'directory'))
        edit.push(createOp(inodeOf(place) + places.length, inodeOf(place), place, 'file'))
      }
    })
    this.workspace = workspace
    this.reservations = branch.reservations
    this.keeper = workspace.lease(branch)
  }

  #makeClient(who: Who): ModelClient {
    const client: ModelClient = new ModelClient({
      who,
      way: new Way(
        (connection) => this.#server.accept(connection),
        ({ type }) => {
          if (type === 'welcome') client.isInDoubt = false
        },
        this.scenario.lies ?? [],
      ),
      program: this.scenario.programs[who] ?? [],
      onAcknowledge: (acknowledged) => this.promises.judgeAcknowledged(client, acknowledged),
      beginLook: (directory) => this.promises.beginLook(client, directory),
    })
    return client
  }

  get maxFiles(): number | undefined {
    return this.scenario.maxFiles
  }

  /** Its lease may have been taken by force. */
  mayLose({ hasLapsed }: ModelClient): boolean {
    return this.isOverdue || hasLapsed
  }

  get branch(): BranchId {
    return this.keeper.record.branch
  }

  /** What may happen next, by name. Time passes where all wait for something, unless the scenario is hasty. */
  get steps(): readonly string[] {
    const steps = this.clients.flatMap((client) => client.steps)
    const mayPass = this.scenario.isHasty || !(steps.some(isDue) || this.#isAllDone)
    for (const [name, timers] of this.#clocks())
      if (mayPass && timers.isDueWithin(soonMs)) steps.push(`time of ${name}`)
    for (const place of new Set(this.requests)) steps.push(`request for ${place}`)
    for (const [index, trouble] of this.troubles.entries())
      if (this.#isPossible(trouble)) steps.push(`trouble ${index}`)
    return steps
  }

  #clocks(): readonly (readonly [string, Timers])[] {
    const running = this.clients.filter(({ runs }) => runs)
    return [['server', this.timers], ...running.map(({ who, timers }) => [who, timers] as const)]
  }

  async take(step: string): Promise<void> {
    const words = step.split(' ')
    const [first, second] = words
    const client = this.clients.find(({ who }) => words.includes(who))
    if (first === 'request') void this.#request(words[2] as Place)
    else if (first === 'trouble') this.#make(this.troubles.splice(Number(second), 1)[0]!)
    else if (first !== 'time') client!.take(step)
    else {
      if (this.clients.some(({ isAsked }) => isAsked)) this.mayPassOver = true
      ;(client?.timers ?? this.timers).fire()
    }
    await drained()
    this.promises.judgeRefused()
    for (const fault of judgeHolders(this)) this.promises.fault(fault)
  }

  /** Nothing is on its way, and no program waits. */
  get isAtRest(): boolean {
    return this.#isAllDone && !this.clients.some(({ steps }) => steps.some(isDue))
  }

  get #isAllDone(): boolean {
    return this.pendingRequests === 0 && this.clients.every((client) => client.isAtRest)
  }

  /** Everything that is on its way arrives. */
  async settle(): Promise<void> {
    for (;;) {
      await drained()
      const due = this.clients.flatMap((client) => client.steps.filter(isDue))
      if (due.length === 0) return
      for (const step of due)
        this.clients.find(({ who }) => step.split(' ').includes(who))!.take(step)
    }
  }

  #isPossible(trouble: Trouble): boolean {
    if (trouble.type === 'pause') return true
    if (trouble.type === 'overdue') return this.keeper.record.recalled
    const { isFrozen, runs, way } = this.#find(trouble.who)
    return trouble.type === 'lapses' ? isFrozen || !way.isOpen : runs && way.isOpen
  }

  #make(trouble: Trouble): void {
    if (trouble.type === 'pause') this.timers.nowMs += contestedMs
    else if (trouble.type === 'overdue') void this.#passDeadline()
    else {
      const client = this.#find(trouble.who)
      if (trouble.type === 'cut') client.way.cut()
      else if (trouble.type === 'leaves') void client.leave()
      else if (trouble.type === 'freezes') client.isFrozen = true
      else if (trouble.type === 'dies') client.isDead = true
      else void this.#lapse(client)
    }
  }

  /** The server has not heard of it for a lease time, and of the others it has. */
  async #lapse(client: ModelClient): Promise<void> {
    client.hasLapsed = true
    await this.#changeRecord((record) => ({
      ...record,
      writers: record.writers.map((writer) =>
        writer.session === client.id ? { ...writer, expiresAtMs: 0 } : writer,
      ),
    }))
  }

  async #passDeadline(): Promise<void> {
    this.isOverdue = true
    await this.#changeRecord((record) => ({ ...record, deadline: { ms: 0, lastMs: 0 } }))
  }

  /** As time does; then those that are connected renew. */
  async #changeRecord(change: (record: LeaseRecord) => LeaseRecord): Promise<void> {
    const { leases } = this.disk
    const record = (await leases.get(this.branch))!
    await leases.put({ ...change(record), version: record.version + 1 })
    for (const { way, id, isFrozen } of this.clients)
      if (way.isOpen && !isFrozen) await this.keeper.renew(id)
  }

  /** As a program does that has no mount. */
  async #request(place: Place): Promise<void> {
    this.requests.splice(this.requests.indexOf(place), 1)
    this.pendingRequests++
    const key = `request-${this.requests.length}`
    try {
      const branch = await this.workspace.branch('main')
      await this.workspace.paths.change(branch, asker(key), (edit) =>
        appendFile(edit, `/${place}/${place}` as ByteString, { pieces: [], parents: false }),
      )
    } catch (error) {
      if (!isFsError(error)) throw error
    }
    this.pendingRequests--
  }

  #find(who: Who): ModelClient {
    return this.clients.find((client) => client.who === who)!
  }
}

/** Whether it happens some time. */
export function isDue(step: string): boolean {
  return !/begins$|at once$|^request|^trouble/.test(step)
}

/** Each microtask, however deep they nest, runs before the next immediate. */
function drained(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function asker(key: string): { actor: never; idempotencyKey: string } {
  return { actor: 'key_1' as never, idempotencyKey: key }
}
