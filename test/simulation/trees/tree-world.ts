import type { BranchId, ByteString, Ino, SessionReply } from '@cairn/protocol'
import { isCairnError, isFsError, rootIno } from '@cairn/protocol'
import { appendFile } from '@cairn/server/testing'
import { Chance } from '../../model/chance.ts'
import type { TreeConditions, TreeTrouble } from '../conditions.ts'
import { Network } from '../network.ts'
import { Scheduler } from '../scheduler.ts'
import { foundWorkspace, type MakeFirst, owner, Server } from '../server.ts'
import { Disk } from '../stores.ts'
import { Trace } from '../trace.ts'
import { type Acknowledged, type JudgedWorld, Promises } from './promises.ts'
import { createOp, TreeClient } from './tree-client.ts'

const settleMs = 60_000
const firstTag = 1000
const tagsMax = 1_000_000
const clientsMax = 4
/** As many programs as wait on one mount. */
const openMax = 3

/** After one of these a session may be missed, and lose its lease. */
const forceful: readonly TreeTrouble[] = ['cut', 'half-open', 'partition', 'freeze', 'crash-server']

/** Mounts that change one tree of directories, with whatever goes wrong between them and their servers. */
export class TreeWorld implements JudgedWorld<TreeClient> {
  readonly conditions: TreeConditions
  readonly scheduler: Scheduler = new Scheduler()
  readonly disk: Disk = new Disk()
  readonly trace: Trace
  readonly clients: TreeClient[] = []
  readonly promises: Promises<TreeClient> = new Promises<TreeClient>(this)
  /** How often a session acknowledged something while another one held the lease, too. */
  acknowledgedTogether = 0
  readonly #servers: readonly Server[]
  readonly #chance: Chance
  readonly #network: Network
  #openRequests = 0
  #tag = firstTag
  #isStormy = true
  #wasForced = false

  constructor(seed: number, conditions: TreeConditions, keepsTrace: boolean) {
    this.conditions = conditions
    const { scheduler, disk } = this
    const chance = (this.#chance = new Chance(seed))
    this.trace = new Trace(() => scheduler.nowMs, keepsTrace)
    const { messageDelayMs: delayMs, storeFailsOneIn, servers } = conditions
    this.#network = new Network({ scheduler, chance, trace: this.trace, delayMs })
    const failsOneIn = (): number => (this.#isStormy ? storeFailsOneIn : 0)
    this.#servers = Array.from({ length: servers }, (_, index) => {
      const name = `s${index + 1}`
      const isAlone = servers === 1
      return new Server({ name, disk, scheduler, chance, conditions, failsOneIn, isAlone })
    })
  }

  get maxFiles(): number | undefined {
    return this.conditions.maxFiles
  }

  /** Sessions may have been passed over: what they promised may be late. */
  get mayPassOver(): boolean {
    return this.#wasForced || this.conditions.storeFailsOneIn > 0
  }

  mayLose({ isDead }: TreeClient): boolean {
    return isDead || this.mayPassOver
  }

  async run(): Promise<void> {
    for (const server of this.#servers) server.start()
    await this.#found()
    while (this.clients.length < this.conditions.clients) this.#startClient()
    this.#keepTroubling()
    await this.scheduler.run(() => false, this.conditions.stormMs)
    this.#calm()
    if (!(await this.scheduler.run(() => this.#isSettled, settleMs)))
      this.promises.fault('not settled')
    this.promises.judgeEnd()
    let isJudged = false
    void this.promises.judgeTrees().then(() => (isJudged = true))
    if (!(await this.scheduler.run(() => isJudged, settleMs))) this.promises.fault('no tree')
    const closing = this.clients.filter(({ isDead, isClosed }) => !isDead && !isClosed)
    for (const client of closing) if (!client.isClosing) void client.close()
    const areClosed = (): boolean => closing.every(({ isClosed }) => isClosed)
    if (!(await this.scheduler.run(areClosed, settleMs))) this.promises.fault('not closed')
  }

  async #found(): Promise<void> {
    const makeFirst: MakeFirst = (edit) => {
      for (const [index, name] of ['p', 'q', 'r'].entries()) {
        const directory = (2 + index) as Ino
        edit.push(createOp(directory, rootIno, name, 'directory'))
        edit.push(createOp(5 + index, directory, name, 'file'))
      }
    }
    const id = await foundWorkspace(this.disk, tagsMax, makeFirst, this.conditions.maxFiles)
    this.trace.name(id, 'w')
    await this.promises.watch(`${id}/main` as BranchId)
  }

  #startClient(): void {
    const who = `c${this.clients.length + 1}`
    const { scheduler, trace, promises } = this
    const client: TreeClient = new TreeClient({
      who,
      connect: this.#network.connectTo(this.#servers, {
        name: who,
        onReply: (reply) => this.#hear(client, reply),
      }),
      scheduler,
      chance: this.#chance,
      nextTag: () => this.#tag++,
      note: (line) => trace.note(line),
      onAcknowledge: (of, acknowledged) => this.#noteAcknowledged(of, acknowledged),
      beginLook: (of, directory) => promises.beginLook(of, directory),
      onFault: (what) => promises.fault(what),
      begin: () => {
        const begun = promises.length
        return () => promises.judgeFull(who, begun)
      },
    })
    this.clients.push(client)
    this.#keepActing(client)
  }

  #hear({ who }: TreeClient, reply: SessionReply): void {
    if (reply.type === 'welcome') this.trace.name(reply.session, `@${who}`)
  }

  #noteAcknowledged(client: TreeClient, acknowledged: Acknowledged): void {
    const { epoch, tag, directories } = acknowledged
    this.trace.note(
      () => `${client.who} acknowledges #${tag} in ${directories.join(' ')} under ${epoch}`,
    )
    const holds = (other: TreeClient): boolean =>
      other.runs && other.mount.session.canAcknowledge && other.mount.session.leaseEpoch === epoch
    if (this.clients.some((other) => other !== client && holds(other))) this.acknowledgedTogether++
    this.promises.judgeAcknowledged(client, acknowledged)
  }

  get #isSettled(): boolean {
    return (
      this.#openRequests === 0 &&
      this.clients.every((client) => client.isSettled && this.#isUpToDate(client))
    )
  }

  #isUpToDate({ isDead, isClosing, mount }: TreeClient): boolean {
    return (
      isDead ||
      isClosing ||
      (mount.seq === this.promises.length && mount.session.standing !== 'waiting')
    )
  }

  #calm(): void {
    this.trace.note(() => 'the storm is over')
    this.#isStormy = false
    this.#network.healAll()
    for (const client of this.clients) client.freezer.thaw()
    for (const server of this.#servers) if (!server.isUp) server.start()
  }

  #keepActing(client: TreeClient): void {
    this.scheduler.after(this.#chance.below(this.conditions.pauseMs), () => {
      if (!this.#isStormy || client.isDead || client.isClosing) return
      if (client.runs && client.open < openMax) client.act()
      this.#keepActing(client)
    })
  }

  #keepTroubling(): void {
    this.scheduler.after(this.#chance.below(this.conditions.troublePauseMs), () => {
      if (!this.#isStormy) return
      const trouble = this.#chance.choose(this.conditions.troubles)
      if (trouble) this.#trouble(trouble)
      this.#keepTroubling()
    })
  }

  #trouble(trouble: TreeTrouble): void {
    const chance = this.#chance
    const live = this.clients.filter(({ runs, isClosing }) => runs && !isClosing)
    const client = chance.choose(live)
    const server = chance.choose(this.#servers)
    if (!client) return
    if (forceful.includes(trouble)) this.#wasForced = true
    switch (trouble) {
      case 'cut':
        return this.#network.cutSome()
      case 'half-open':
        return this.#network.silenceSome()
      case 'partition':
        return this.#isolate(client)
      case 'freeze':
        return this.#freeze(client)
      case 'crash-server':
        return this.#crash(server)
      case 'crash-client':
        if (live.length === 1) return
        this.trace.note(() => `${client.who} crashes`)
        this.#network.drop(client.who)
        return client.crash()
      case 'new-client':
        return live.length < clientsMax ? this.#startClient() : undefined
      case 'leave-client':
        return live.length > 1 ? void client.close() : undefined
      case 'one-off':
        return void this.#request()
    }
  }

  #isolate({ who }: TreeClient): void {
    this.trace.note(() => `${who} is cut off`)
    this.#network.isolate(who)
    this.scheduler.after(this.#someLeases(), () => this.#network.heal(who))
  }

  #freeze({ who, freezer }: TreeClient): void {
    this.trace.note(() => `${who} freezes`)
    freezer.freeze()
    this.scheduler.after(this.#someLeases(), () => {
      this.trace.note(() => `${who} runs again`)
      freezer.thaw()
    })
  }

  #someLeases(): number {
    return this.#chance.below(3 * this.conditions.leaseMs)
  }

  #crash(server: Server): void {
    if (!server.isUp) return
    this.trace.note(() => `${server.name} crashes`)
    server.crash()
    this.#network.drop(server.name)
    this.scheduler.after(this.#chance.below(1000), () => {
      if (!server.isUp) server.start()
    })
  }

  /** As an SDK does: under the same key, to any server, until there is an answer. */
  async #request(): Promise<void> {
    const key = `request-${this.#tag++}`
    const place = this.#chance.choose(['p', 'q', 'r'])
    this.trace.note(() => `${key} for ${place}`)
    this.#openRequests++
    while (!(await this.#tryRequest(key, place))) await this.scheduler.sleep(200)
    this.trace.note(() => `${key} is answered`)
    this.#openRequests--
  }

  async #tryRequest(key: string, place: string): Promise<boolean> {
    try {
      const answer = await this.#chance.choose(this.#servers).within(async (workspaces) => {
        const workspace = await workspaces.open(owner, 'w')
        const branch = await workspace.branch('main')
        const path = `/${place}/${place}` as ByteString
        return workspace.paths.change(branch, asker(key), (edit) =>
          appendFile(edit, path, { pieces: [], parents: false }),
        )
      })
      return answer !== 'died'
    } catch (error) {
      if (isCairnError(error, 'storage_unavailable')) return false
      if (isFsError(error) || isCairnError(error, 'quota_exceeded')) return true
      this.promises.fault(`${key}: ${String(error)}`)
      return true
    }
  }
}

function asker(key: string): { actor: never; idempotencyKey: string } {
  return { actor: 'key_1' as never, idempotencyKey: key }
}
