import { type BatchBody, decodeBatch, type LogRow } from '@cairn/core'
import {
  type BranchId,
  isCairnError,
  isFsError,
  type Ino,
  type Name,
  rootIno,
  type SessionReply,
} from '@cairn/protocol'
import { Chance } from '../model/chance.ts'
import { isReap } from './checks.ts'
import { Client, createOps } from './client.ts'
import type { Conditions, Trouble } from './conditions.ts'
import { LayerWork } from './layer-work.ts'
import { Network } from './network.ts'
import { Scheduler } from './scheduler.ts'
import { logIno, logName } from './shared-log.ts'
import { foundWorkspace, type MakeFirst, owner, Server } from './server.ts'
import { Disk } from './stores.ts'
import { Trace } from './trace.ts'

/** A write that came without a session, and what its sender was told. */
export interface OneOff {
  readonly tag: number
  outcome: 'pending' | 'written' | 'refused'
}

const settleMs = 60_000
const firstTag = 1000
const tagsMax = 1_000_000

/** Servers, clients, the network between them and the disk below, all out of one seed. */
export class World {
  readonly conditions: Conditions
  readonly scheduler: Scheduler = new Scheduler()
  readonly trace: Trace
  readonly disk: Disk = new Disk()
  readonly servers: readonly Server[]
  readonly clients: Client[] = []
  readonly oneOffs: OneOff[] = []
  readonly layerWork: LayerWork
  /** What was wrong at the very moment it happened. */
  readonly violations: string[] = []
  main = '' as BranchId
  readonly #chance: Chance
  readonly #network: Network
  /** Who was told the lease of each epoch. */
  readonly #holders = new Map<number, Client>()
  /** How often a session acknowledged something while another one held the lease, too. */
  acknowledgedTogether = 0
  #tag = firstTag
  #isStormy = true

  constructor(seed: number, conditions: Conditions, keepsTrace: boolean) {
    this.conditions = conditions
    const { scheduler, disk } = this
    const chance = (this.#chance = new Chance(seed))
    this.trace = new Trace(() => scheduler.nowMs, keepsTrace)
    const { messageDelayMs: delayMs, storeFailsOneIn } = conditions
    this.#network = new Network({ scheduler, chance, trace: this.trace, delayMs })
    const failsOneIn = (): number => (this.#isStormy ? storeFailsOneIn : 0)
    this.servers = Array.from({ length: conditions.servers }, (_, index) => {
      const name = `s${index + 1}`
      return new Server({ name, disk, scheduler, chance, conditions, failsOneIn })
    })
    const { servers, trace } = this
    const nextTag = (): number => this.#tag++
    this.layerWork = new LayerWork({ servers, scheduler, chance, trace, nextTag })
  }

  async run(): Promise<void> {
    await this.#found()
    this.#watchLog()
    for (const server of this.servers) server.start()
    while (this.clients.length < this.conditions.clients) this.#startClient()
    this.#keepTroubling()
    await this.scheduler.run(() => false, this.conditions.stormMs)
    this.#calm()
    if (!(await this.scheduler.run(() => this.#isSettled, settleMs))) this.#complain('not settled')
    const closing = this.clients.filter(({ isAlive }) => isAlive)
    for (const client of closing) if (!client.isClosing) void client.close()
    const areClosed = (): boolean => closing.every(({ isClosed }) => isClosed)
    if (!(await this.scheduler.run(areClosed, settleMs))) this.#complain('not closed')
    await this.scheduler.run(() => false, 2 * this.conditions.leaseMs)
  }

  rows(branch: BranchId): readonly LogRow[] {
    return this.disk.log.logs.get(branch) ?? []
  }

  async #found(): Promise<void> {
    const makeLog: MakeFirst = (edit) => {
      edit.push(createOps(logIno, rootIno, logName, 'file')[0]!)
    }
    const appends = this.conditions.appendsOneIn > 0
    const id = await foundWorkspace(this.disk, tagsMax, appends ? makeLog : undefined)
    this.trace.name(id, 'w')
    this.main = `${id}/main` as BranchId
  }

  /** Checks at each append whether another client believed to be alone just then. */
  #watchLog(): void {
    const { log } = this.disk
    const append = log.append.bind(log)
    log.append = async (branch, rows) => {
      await append(branch, rows)
      for (const row of rows) this.#noteRow(branch, row)
    }
  }

  #noteRow(branch: BranchId, row: LogRow): void {
    const { seq, epoch, session, number, body, time } = decodeBatch(row.bytes)
    const what = body.type === 'ops' ? `#${time.sec}` : body.type
    this.trace.note(() => `log ${branch} ${seq}: ${session} ${number} epoch ${epoch} ${what}`)
    if (branch !== this.main || body.type === 'epoch' || isReap(body)) return
    for (const client of this.clients)
      if (
        client.session.id !== session &&
        concerns(body).some((ino) => client.mayAcknowledgeIn(ino, epoch))
      )
        this.#complain(`batch ${seq} (${what}) while ${client.name} holds the lease of ${epoch}`)
  }

  /**
   * A holder tells its programs that something is done. No other client may take the directory for its own, nor for known.
   */
  #noteAcknowledged(holder: Client, parent: Ino): void {
    const isTogether = this.clients.some(
      (client) =>
        client !== holder && client.believesInLease && client.leaseEpoch === holder.leaseEpoch,
    )
    if (isTogether) this.acknowledgedTogether++
    for (const client of this.clients)
      if (client !== holder && client.mayAcknowledgeIn(parent, holder.leaseEpoch))
        this.#complain(`${holder.name} acknowledges in ${parent}, as ${client.name} may`)
    // A client that is cut off, or too slow to keep its place, is not waited for.
    if (this.#losesMessages) return
    const others = this.clients.filter(
      (client) => client !== holder && client.isAlive && !client.isClosing,
    )
    for (const client of others)
      if (client.epoch === holder.leaseEpoch && client.shared?.isFresh(parent))
        this.#complain(
          `${holder.name} acknowledges in ${parent}, which ${client.name} has looked at`,
        )
  }

  get #losesMessages(): boolean {
    const { troubles, storeFailsOneIn } = this.conditions
    const lossy: readonly Trouble[] = ['cut', 'half-open', 'partition', 'crash-server']
    return storeFailsOneIn > 0 || troubles.some((trouble) => lossy.includes(trouble))
  }

  /** One epoch's lease is one session's, or of several that give single directories back. */
  #noteLease(client: Client, epoch: number): void {
    const holder = this.#holders.get(epoch) ?? client
    this.#holders.set(epoch, holder)
    if (holder !== client && (!holder.shared || !client.shared))
      this.#complain(`${client.name} is told the lease of ${epoch}, as ${holder.name} was`)
  }

  get #isSettled(): boolean {
    return (
      this.clients.every((client) => client.isSettled && this.#isUpToDate(client)) &&
      this.oneOffs.every(({ outcome }) => outcome !== 'pending') &&
      this.layerWork.isSettled
    )
  }

  #isUpToDate({ isAlive, isClosing, lastSeq }: Client): boolean {
    return !isAlive || isClosing || lastSeq === this.rows(this.main).length
  }

  #complain(what: string): void {
    this.trace.note(() => `!! ${what}`)
    this.violations.push(`at ${this.scheduler.nowMs.toFixed(1)} ms: ${what}`)
  }

  #calm(): void {
    this.trace.note(() => 'the storm is over')
    this.#isStormy = false
    this.#network.healAll()
    for (const server of this.servers) if (!server.isUp) server.start()
  }

  #startClient(): void {
    const name = `c${this.clients.length + 1}`
    const { scheduler, trace, conditions } = this
    const client: Client = new Client({
      name,
      connect: (onReply) => {
        const hear = (reply: SessionReply): void => {
          if (reply.type === 'lease' || reply.type === 'among') this.#noteLease(client, reply.epoch)
          onReply(reply)
        }
        return this.#network.connectTo(this.servers, { name, onReply: hear })
      },
      scheduler,
      chance: this.#chance,
      conditions,
      trace,
      nextTag: () => this.#tag++,
      rowsOf: (branch) => this.rows(branch),
      shares: !this.#isWhole(),
      onAcknowledge: (holder, parent) => this.#noteAcknowledged(holder, parent),
    })
    this.clients.push(client)
    this.#keepActing(client)
  }

  #isWhole(): boolean {
    const { wholeOneIn } = this.conditions
    return wholeOneIn > 0 && this.#chance.oneIn(wholeOneIn)
  }

  #keepActing(client: Client): void {
    this.scheduler.after(this.#chance.below(this.conditions.pauseMs), () => {
      if (!this.#isStormy || !client.isAlive || client.isClosing) return
      client.act()
      this.#keepActing(client)
    })
  }

  #keepTroubling(): void {
    this.scheduler.after(this.#chance.below(this.conditions.troublePauseMs), () => {
      if (!this.#isStormy) return
      this.#trouble(this.#chance.choose(this.conditions.troubles))
      this.#keepTroubling()
    })
  }

  #trouble(trouble: Trouble): void {
    const chance = this.#chance
    const live = this.clients.filter(({ isAlive, isClosing }) => isAlive && !isClosing)
    const client = chance.choose(live)
    const server = chance.choose(this.servers)
    switch (trouble) {
      case 'cut':
        return this.#network.cutSome()
      case 'half-open':
        return this.#network.silenceSome()
      case 'partition':
        return client && this.#isolate(client)
      case 'crash-server':
        return this.#crash(server)
      case 'crash-client':
        return client && this.#crashClient(client)
      case 'new-client':
        return live.length < 4 ? this.#startClient() : undefined
      case 'leave-client':
        return live.length > 1 ? void client?.close() : undefined
      case 'one-off':
        return void this.#writeOnce()
      case 'append':
        return this.layerWork.append()
      case 'layer':
        return this.layerWork.act()
      case 'fold':
        return void server
          .branch()
          .then(async (branch) => void (branch !== 'died' && (await branch.fold())))
          .catch(() => undefined)
    }
  }

  #isolate(client: Client): void {
    this.trace.note(() => `${client.name} is cut off`)
    this.#network.isolate(client.name)
    this.scheduler.after(this.#chance.below(3 * this.conditions.leaseMs), () =>
      this.#network.heal(client.name),
    )
  }

  #crash(server: Server): void {
    if (!server.isUp) return
    this.trace.note(() => `${server.name} crashes`)
    server.crash()
    this.#network.drop(server.name)
    this.scheduler.after(this.#chance.below(2000), () => {
      if (server.isUp) return
      this.trace.note(() => `${server.name} starts again`)
      server.start()
    })
  }

  #crashClient(client: Client): void {
    this.trace.note(() => `${client.name} crashes`)
    this.#network.drop(client.name)
    client.crash()
  }

  /** As an SDK does: the same request under the same key, on any server, until there is an answer. */
  async #writeOnce(): Promise<void> {
    const tag = this.#tag++
    const oneOff: OneOff = { tag, outcome: 'pending' }
    this.oneOffs.push(oneOff)
    const name = this.#chance.oneIn(3) ? 'LOCK' : `one-off-${tag}`
    this.trace.note(() => `one-off #${tag} ${name}`)
    while (oneOff.outcome === 'pending') {
      const outcome = await this.#tryOnce(tag, name)
      this.trace.note(() => `one-off #${tag}: ${outcome}`)
      if (outcome === 'written' || outcome === 'refused') oneOff.outcome = outcome
      else await this.scheduler.sleep(200)
    }
  }

  async #tryOnce(tag: number, name: string): Promise<'written' | 'refused' | 'died' | 'failed'> {
    const asker = { actor: 'key_1' as never, idempotencyKey: `${tag}` }
    try {
      return await this.#chance.choose(this.servers).within(async (workspaces) => {
        const workspace = await workspaces.open(owner, 'w')
        const branch = await workspace.branch('main')
        await workspace.paths.change(branch, asker, (edit) => {
          for (const op of createOps(tag, rootIno, name as Name, 'file')) edit.push(op)
        })
        return 'written' as const
      })
    } catch (error) {
      if (isFsError(error)) return 'refused'
      if (isCairnError(error, 'storage_unavailable')) return 'failed'
      throw error
    }
  }
}

/** The directories whose names a batch changes; of a change of the whole tree, the root directory. */
function concerns(body: BatchBody): readonly Ino[] {
  if (body.type !== 'ops') return [rootIno]
  return body.ops.flatMap((op) => ('parent' in op ? [op.parent] : []))
}
