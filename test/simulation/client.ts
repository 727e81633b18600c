import { decodeBatch, type LogRow, type Op } from '@cairn/core'
import { type Connect, SessionClient } from '@cairn/mount'
import {
  type BranchId,
  isCairnError,
  isFsError,
  type Ino,
  type Name,
  rootIno,
  type SessionReply,
} from '@cairn/protocol'
import type { Chance } from '../model/chance.ts'
import type { Conditions } from './conditions.ts'
import type { Scheduler } from './scheduler.ts'
import type { Trace } from './trace.ts'

/** One thing a client submitted, and what became of it. */
export interface Submitted {
  /** Unlike any other's; in the batch it is the time's seconds. */
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
}

const contested = ['LOCK', 'PID', 'lost+found'] as const

/** A sandbox with its session: it acknowledges to its programs what it may, knows what it was told, and nothing else. */
export class Client {
  readonly name: string
  readonly session: SessionClient
  readonly submitted: Submitted[] = []
  readonly rescues: string[] = []
  isAlive = true
  isClosing = false
  isClosed = false
  leaseEpoch = 0
  lastSeq = 0
  readonly #parts: ClientParts
  /** Names in the root directory: what came in batches, and own ones that are on their way. */
  readonly #known = new Map<string, Ino>()
  readonly #own = new Map<string, Ino>()
  /** Submissions without an answer, by tag: nothing that depends on them may be acknowledged. */
  readonly #open = new Map<number, string>()
  /** Where the batches of receipts stand in the log. */
  readonly #awaited = new Map<number, number>()

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.name = parts.name
    this.session = new SessionClient({
      connect: parts.connect((reply) => this.#hear(reply)),
      clock: { sleep: (ms) => parts.scheduler.sleep(ms) },
      workspace: 'w',
      branch: 'main',
      mode: 'write',
      onBatch: (bytes) => this.#learn(bytes),
      onRescue: (outcome) => this.rescues.push(outcome),
    })
  }

  get believesInLease(): boolean {
    return this.isAlive && !this.isClosed && this.session.standing === 'lease'
  }

  get isSettled(): boolean {
    return !this.isAlive || this.submitted.every(({ outcome }) => outcome !== 'pending')
  }

  act(): void {
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
    const { chance, nextTag, trace } = this.#parts
    const { hesitatesOneIn } = this.#parts.conditions
    const tag = nextTag()
    const { name, parent, removes } = this.#choosePlace(tag)
    const isKnown = this.#known.has(name) && ![...this.#open.values()].includes(name)
    const isFree = !this.#known.has(name) && ![...this.#open.values()].includes(name)
    const canSucceed = removes ? isKnown : isFree
    const acknowledges =
      canSucceed && this.session.standing === 'lease' && !chance.oneIn(hesitatesOneIn)
    const kind = name.startsWith('dir') ? 'directory' : 'file'
    const ops = removes ? unlinkOps(tag, name) : createOps(tag, parent, name, kind)
    const submitted: Submitted = {
      tag,
      client: this.name,
      acknowledgedIn: acknowledges ? this.leaseEpoch : undefined,
      outcome: 'pending',
    }
    trace.note(() => {
      const lease = acknowledges ? ` under ${this.leaseEpoch}` : ''
      return `${this.name} submits #${tag} ${removes ? 'without ' : ''}${name}${lease}`
    })
    this.submitted.push(submitted)
    this.#open.set(tag, name)
    const isOwn = acknowledges && kind === 'directory'
    if (isOwn) this.#own.set(name, tag as Ino)
    void this.session
      .submit(ops, { sec: tag, nsec: 0 }, acknowledges)
      .then(
        (receipt) => receipt,
        (error: unknown) => readRefusal(error, acknowledges),
      )
      .then((outcome) => {
        trace.note(() => `${this.name} hears of #${tag}: ${JSON.stringify(outcome)}`)
        submitted.outcome = outcome
        this.#own.delete(name)
        // The batch comes on its own way, perhaps later than the receipt.
        if (typeof outcome === 'object' && 'seq' in outcome) this.#awaited.set(tag, outcome.seq)
        else this.#open.delete(tag)
        this.#closeAnswered()
      })
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
    const sort = chance.below(8)
    if (chance.oneIn(conditions.contestedOneIn))
      return { name: chance.choose(contested), parent: rootIno, removes: chance.oneIn(2) }
    if (sort === 1) return { name: `dir-${tag}`, parent: rootIno, removes: false }
    const dirs = [...this.#known, ...this.#own].filter(([name]) => name.startsWith('dir'))
    if (sort < 5 && dirs.length > 0)
      return { name: `child-${tag}`, parent: chance.choose(dirs)[1], removes: false }
    return { name: `file-${tag}`, parent: rootIno, removes: false }
  }

  #hear(reply: SessionReply): void {
    if (reply.type === 'welcome') this.#parts.trace.name(reply.session, `@${this.name}`)
    if (reply.type === 'lease') this.leaseEpoch = reply.epoch
  }

  #learn(bytes: Uint8Array): void {
    const { seq, body } = decodeBatch(bytes)
    if (seq !== this.lastSeq + 1)
      throw new Error(`${this.name} got batch ${seq} after ${this.lastSeq}`)
    this.lastSeq = seq
    this.#closeAnswered()
    if (body.type === 'ops') this.#take(body.ops)
    if (body.type !== 'root') return
    // A commit is one step to another tree; a mount would ask for what changed.
    for (const { bytes: row } of this.#parts.rowsOf(body.change.subject as BranchId)) {
      const late = decodeBatch(row).body
      if (late.type === 'ops') this.#take(late.ops)
    }
  }

  #take(ops: readonly Op[]): void {
    for (const op of ops) applyToNames(this.#known, op)
  }
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
