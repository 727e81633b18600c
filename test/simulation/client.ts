import { type Batch, decodeBatch, encodeBody, type LogRow, type Op, sessionIds } from '@cairn/core'
import { type Connect, type Reservation, SessionClient } from '@cairn/mount'
import { SharedDirectories } from './shared-directories.ts'
import {
  type BranchId,
  isCairnError,
  isFsError,
  type Ino,
  type Name,
  rootIno,
  type SessionReply,
  type RescueOutcome,
} from '@cairn/protocol'
import type { Chance } from '../model/chance.ts'
import type { Conditions } from './conditions.ts'
import type { Scheduler } from './scheduler.ts'
import { appendOp, logIno, logName, tokenBytes } from './shared-log.ts'
import type { Trace } from './trace.ts'

/** One thing a client submitted, and what became of it. */
export interface Submitted {
  /** Unlike any other's; in the operations it is the time's seconds. */
  readonly tag: number
  readonly client: string
  /** The epoch of the lease under which the client told its programs that it is done. */
  readonly acknowledgedIn: number | undefined
  outcome: 'pending' | 'refused' | 'rescued' | { readonly seq: number } | { readonly bad: string }
}

export interface ClientParts {
  readonly name: string
  readonly connect: (onReply: (reply: SessionReply) => void) => Connect
  readonly scheduler: Scheduler
  readonly chance: Chance
  readonly conditions: Conditions
  readonly trace: Trace
  readonly nextTag: () => number
  /** The stored log of a branch, for looking up what a commit brought. */
  readonly rowsOf: (branch: BranchId) => readonly LogRow[]
  /** It gives single directories back. */
  readonly shares: boolean
  /** Hears what it tells its programs is done. */
  readonly onAcknowledge: (client: Client, parent: Ino) => void
}

/** How long a client may collect what it has acknowledged before it sends it. */
const collectMsMax = 50
const contested = ['LOCK', 'PID', 'lost+found'] as const

/** A sandbox with its session: it acknowledges to its programs what it may, knows what it was told, and nothing else. */
export class Client {
  readonly name: string
  readonly session: SessionClient
  readonly submitted: Submitted[] = []
  readonly rescues: RescueOutcome[] = []
  isAlive = true
  isClosing = false
  isClosed = false
  leaseEpoch = 0
  /** The newest that it heard of. */
  epoch = 0
  lastSeq = 0
  readonly #parts: ClientParts
  /** Names in the root directory: what came in batches, and own ones that are on their way. */
  readonly #known = new Map<string, Ino>()
  readonly #own = new Map<string, Ino>()
  /** Directories that it made, or tried to. */
  readonly #made = new Map<string, Ino>()
  /** Submissions without an answer, by tag: nothing that depends on them may be acknowledged. */
  readonly #open = new Map<number, string>()
  /** Where the batches of receipts stand in the log. */
  readonly #awaited = new Map<number, number>()
  /** What the log brought and is not taken in: an own batch comes without its bytes, and waits for its receipt. */
  readonly #arrived: (Uint8Array | { readonly seq: number })[] = []
  /** What the receipts tell of, by its place in the log. */
  readonly #ownOps = new Map<number, readonly Op[]>()
  /** How long the shared log file is, as far as the batches tell that came. */
  #logBytes = 0
  /** Acknowledged, and not handed to the session yet. */
  readonly #collecting = new Set<() => void>()
  /** Acknowledged, and not settled. */
  readonly #unsettled = new Set<Promise<unknown>>()
  readonly #waiting = new Set<() => void>()
  /** Set for a client that gives single directories back. */
  readonly shared: SharedDirectories | undefined

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.name = parts.name
    this.shared = parts.shares ? this.#share() : undefined
    this.session = new SessionClient({
      connect: parts.connect((reply) => this.#hear(reply)),
      clock: { sleep: (ms) => parts.scheduler.sleep(ms) },
      workspace: 'w',
      branch: 'main',
      mode: parts.shares ? 'share' : 'write',
      random: () => parts.chance.below(1000) / 1000,
    })
    this.session.start({
      ...this.shared?.handlers,
      onBatch: (bytes) => this.#arrive(bytes),
      onOwn: (_, seq) => this.#arrive({ seq }),
      onRecall: () => this.#sendCollected(),
      onRescue: (outcome) => this.rescues.push(outcome),
    })
  }

  get believesInLease(): boolean {
    return this.isAlive && !this.isClosed && this.session.canAcknowledge
  }

  /** Whether it may tell its programs, in that epoch, that something in the directory is done. */
  mayAcknowledgeIn(directory: Ino, epoch: number): boolean {
    if (!this.believesInLease || this.leaseEpoch !== epoch) return false
    if (!this.shared) return true
    const known = [rootIno, ...this.#known.values(), ...this.#own.values()]
    return this.shared.holds(directory) && known.includes(directory)
  }

  get isSettled(): boolean {
    return !this.isAlive || this.submitted.every(({ outcome }) => outcome !== 'pending')
  }

  #share(): SharedDirectories {
    return new SharedDirectories({
      ask: (question) => this.session.ask(question),
      seq: () => this.session.seq,
      whenReached: async (seq) => {
        while (this.lastSeq < seq) await new Promise<void>((wake) => this.#waiting.add(wake))
      },
      whenSent: async () => {
        this.#sendCollected()
        await Promise.allSettled(this.#unsettled)
      },
    })
  }

  act(): void {
    if (this.shared && this.#parts.chance.oneIn(3)) {
      const dirs = [
        rootIno,
        ...[...this.#known].flatMap(([name, ino]) => (isDirectory(name) ? [ino] : [])),
      ]
      return this.shared.look(this.#parts.chance.choose(dirs))
    }
    for (let left = 1 + this.#parts.chance.below(3); left > 0; left--) this.#submit()
  }

  /** The sandbox is gone in the middle of everything. */
  crash(): void {
    this.isAlive = false
    this.session.abandon()
  }

  async close(): Promise<void> {
    this.isClosing = true
    await this.session.close()
    this.isClosed = true
  }

  #submit(): void {
    const { chance, nextTag } = this.#parts
    const { hesitatesOneIn, appendsOneIn } = this.#parts.conditions
    const tag = nextTag()
    if (appendsOneIn > 0 && chance.oneIn(appendsOneIn)) return this.#submitAppend(tag)
    const { name, parent, removes } = this.#choosePlace(tag)
    const isKnown = this.#known.has(name) && ![...this.#open.values()].includes(name)
    const isFree = !this.#known.has(name) && ![...this.#open.values()].includes(name)
    const canSucceed = removes ? isKnown : isFree
    const acknowledges = canSucceed && this.#mayAcknowledge(parent) && !chance.oneIn(hesitatesOneIn)
    if (acknowledges) this.#parts.onAcknowledge(this, parent)
    const reservation = acknowledges ? this.session.reserve() : undefined
    const kind = isDirectory(name) ? 'directory' : 'file'
    const ops = removes ? unlinkOps(tag, name) : createOps(tag, parent, name, kind)
    if (!removes && kind === 'directory') this.#made.set(name, tag as Ino)
    if (reservation && kind === 'directory') {
      this.#own.set(name, tag as Ino)
      this.shared?.noteMade(tag as Ino)
    }
    this.#send(tag, { name, what: removes ? `without ${name}` : name, ops, reservation })
  }

  /** At the end that the holder of the lease knows, or wherever the end is when its turn comes. */
  #submitAppend(tag: number): void {
    const isKnown = ![...this.#open.values()].includes(logName)
    const acknowledges = isKnown && this.#mayAcknowledge(rootIno)
    if (acknowledges) this.#parts.onAcknowledge(this, rootIno)
    const reservation = acknowledges ? this.session.reserve() : undefined
    const offset = reservation ? this.#logBytes : undefined
    const ops = [appendOp(tag, offset)]
    const what = `${logName} at ${offset ?? 'its end'}`
    this.#send(tag, { name: logName, what, ops, reservation })
  }

  #send(tag: number, { name, what, ops, reservation }: Submission): void {
    const acknowledgedIn = reservation?.epoch
    const submitted: Submitted = { tag, client: this.name, acknowledgedIn, outcome: 'pending' }
    this.#parts.trace.note(() => {
      const lease = reservation ? ` under ${acknowledgedIn}` : ''
      return `${this.name} submits #${tag} ${what}${lease}`
    })
    this.submitted.push(submitted)
    this.#open.set(tag, name)
    const acknowledges = reservation !== undefined
    const time = { sec: tag, nsec: 0 }
    if (reservation) {
      this.#collect(reservation, encodeBody({ type: 'ops', ops }, time))
      const settled = reservation.settled.catch(() => undefined)
      this.#unsettled.add(settled)
      void settled.then(() => this.#unsettled.delete(settled))
    }
    void (reservation?.settled ?? this.session.submit(ops, time)).then(
      (receipt) => this.#settle(submitted, name, ops, receipt),
      (error: unknown) => this.#settle(submitted, name, ops, readRefusal(error, acknowledges)),
    )
  }

  /** Beside others it also knows all that was done in the directory, and has claimed it. */
  #mayAcknowledge(parent: Ino): boolean {
    if (!this.session.canAcknowledge) return false
    return !this.shared || (this.#arrived.length === 0 && this.shared.isMine(parent))
  }

  #settle(
    submitted: Submitted,
    name: string,
    ops: readonly Op[],
    outcome: Submitted['outcome'],
  ): void {
    const { tag } = submitted
    this.#parts.trace.note(() => `${this.name} hears of #${tag}: ${JSON.stringify(outcome)}`)
    submitted.outcome = outcome
    this.#own.delete(name)
    // The batch comes on its own way, perhaps later than the receipt.
    if (typeof outcome === 'object' && 'seq' in outcome) {
      this.#awaited.set(tag, outcome.seq)
      if (outcome.seq > this.lastSeq) this.#ownOps.set(outcome.seq, ops)
    } else this.#open.delete(tag)
    this.#takeIn()
  }

  /** Sends it a little later, as a mount does, unless the lease is asked for. */
  #collect(reservation: Reservation, body: Uint8Array): void {
    const { scheduler, chance } = this.#parts
    const send = (): void => {
      if (this.#collecting.delete(send)) reservation.send(body)
    }
    this.#collecting.add(send)
    if (chance.oneIn(2)) send()
    else scheduler.after(chance.below(collectMsMax), send)
  }

  #sendCollected(): void {
    for (const send of this.#collecting) send()
  }

  #closeAnswered(): void {
    for (const [tag, seq] of this.#awaited) {
      if (seq > this.lastSeq) continue
      this.#awaited.delete(tag)
      this.#open.delete(tag)
    }
  }

  /** In the root directory, or in a directory that the client takes to be there. */
  #choosePlace(tag: number): { name: string; parent: Ino; removes: boolean } {
    const { chance, conditions } = this.#parts
    if (conditions.straysOneIn > 0 && !chance.oneIn(conditions.straysOneIn))
      return this.#chooseHomely(tag)
    const sort = chance.below(8)
    if (chance.oneIn(conditions.contestedOneIn))
      return { name: chance.choose(contested), parent: rootIno, removes: chance.oneIn(2) }
    if (sort === 1) return { name: `dir-${tag}`, parent: rootIno, removes: false }
    const dirs = [...this.#known, ...this.#own].filter(([name]) => isDirectory(name))
    if (sort < 5 && dirs.length > 0)
      return { name: `child-${tag}`, parent: chance.choose(dirs)[1], removes: false }
    return { name: `file-${tag}`, parent: rootIno, removes: false }
  }

  /** In a directory of its own, which it makes if there is none. */
  #chooseHomely(tag: number): { name: string; parent: Ino; removes: boolean } {
    const { chance } = this.#parts
    const made = [...this.#made].filter(([name]) => this.#known.has(name) || this.#own.has(name))
    if (made.length === 0 || chance.oneIn(12))
      return { name: `dir-${tag}`, parent: rootIno, removes: false }
    return { name: `child-${tag}`, parent: chance.choose(made)[1], removes: false }
  }

  #hear(reply: SessionReply): void {
    if (reply.type === 'welcome') this.#parts.trace.name(reply.session, `@${this.name}`)
    if (reply.type === 'lease' || reply.type === 'among') this.leaseEpoch = reply.epoch
    if ('epoch' in reply) this.epoch = reply.epoch
  }

  #arrive(what: Uint8Array | { readonly seq: number }): void {
    this.#arrived.push(what)
    this.#takeIn()
  }

  #takeIn(): void {
    for (let [next] = this.#arrived; next; [next] = this.#arrived) {
      if (next instanceof Uint8Array) this.#learn(decodeBatch(next))
      else if (!this.#learnOwn(next.seq)) break
      this.#arrived.shift()
    }
    this.#closeAnswered()
  }

  /** False when its receipt is not there yet. */
  #learnOwn(seq: number): boolean {
    const ops = this.#ownOps.get(seq)
    if (!ops) return false
    this.#ownOps.delete(seq)
    this.#moveTo(seq)
    this.#take(ops)
    return true
  }

  #learn({ seq, body, session }: Batch): void {
    this.#moveTo(seq)
    if (body.type === 'ops') {
      if (session === this.session.id && body.ops.length > 0)
        throw new Error(`${this.name} got the bytes of its own batch ${seq}`)
      for (const op of sessionIds.isConnected(session) ? body.ops : [])
        if (op.type === 'create' && op.kind === 'directory') this.shared?.noteMadeElsewhere(op.ino)
      this.#take(body.ops)
    }
    if (body.type !== 'root') return
    // A commit is one step to another tree; a mount would ask for what changed.
    for (const { bytes: row } of this.#parts.rowsOf(body.change.subject as BranchId)) {
      const late = decodeBatch(row).body
      if (late.type === 'ops') this.#take(late.ops)
    }
  }

  #moveTo(seq: number): void {
    if (seq !== this.lastSeq + 1)
      throw new Error(`${this.name} got batch ${seq} after ${this.lastSeq}`)
    this.lastSeq = seq
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #take(ops: readonly Op[]): void {
    for (const op of ops) {
      applyToNames(this.#known, op)
      if (op.type === 'append' && op.ino === logIno) this.#logBytes += tokenBytes
      if (op.type === 'write' && op.ino === logIno)
        this.#logBytes = Math.max(this.#logBytes, op.offset + tokenBytes)
    }
  }
}

interface Submission {
  readonly name: string
  readonly what: string
  readonly ops: readonly Op[]
  /** Set for a write that is acknowledged at once. */
  readonly reservation: Reservation | undefined
}

function isDirectory(name: string): boolean {
  return name.startsWith('dir')
}

/** What an operation does to the names in the root directory. */
export function applyToNames(names: Map<string, Ino>, op: Op): void {
  if (op.type === 'create' && op.parent === rootIno) names.set(op.name, op.ino)
  if (op.type === 'unlink') names.delete(op.name)
}

function unlinkOps(tag: number, name: string): readonly Op[] {
  return [{ type: 'unlink', time: { sec: tag, nsec: 0 }, parent: rootIno, name: name as Name }]
}

/** A file and its bytes, or a directory. Its inode number is the tag. */
export function createOps(
  tag: number,
  parent: Ino,
  name: string,
  kind: 'file' | 'directory',
): readonly Op[] {
  const time = { sec: tag, nsec: 0 }
  const owner = { uid: 0, gid: 0, rdev: 0, target: undefined }
  const ino = tag as Ino
  const mode = kind === 'file' ? 0o644 : 0o755
  const create: Op = { type: 'create', time, parent, name: name as Name, ino, kind, mode, ...owner }
  if (kind === 'directory') return [create]
  const data = { type: 'bytes', bytes: new TextEncoder().encode(`${tag}`) } as const
  return [create, { type: 'write', time, ino, offset: 0, data, dropPrivileges: false }]
}

function readRefusal(error: unknown, wasAcknowledged: boolean): Submitted['outcome'] {
  if (wasAcknowledged && isCairnError(error, 'stale_epoch')) return 'rescued'
  if (!wasAcknowledged && isFsError(error)) return 'refused'
  return { bad: String(error) }
}
