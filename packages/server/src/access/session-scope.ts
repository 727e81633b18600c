import { randomUUID } from 'node:crypto'
import {
  applyOp,
  type Batch,
  Changes,
  encodeBatch,
  genesis,
  growthOf,
  inoReplacing,
  type Link,
  type Op,
  placeOf,
  requireOnInode,
  requireOperation,
  scopedView,
  sessionIds,
  type Steps,
  type Usage,
  type View,
} from '@cairn/core'
import {
  type AccessOperation,
  type ActorId,
  allows,
  allowsAll,
  allowsSomewhere,
  CairnError,
  type Grant,
  type Hash,
  type Ino,
  isVisible,
  isWay,
  isWithin,
  removesOwn,
  seesAll,
  type SessionId,
} from '@cairn/protocol'
import type { LeaseStore } from '../ports/lease-store.ts'
import { notStored } from '../files/stored-blobs.ts'
import type { Scope } from './access.ts'
import type { Budget } from './budget.ts'
import { Holdings } from './holdings.ts'
import { shownInodes } from './shown-inodes.ts'

/** What changed, as a session is told. */
export interface TouchedNames {
  readonly inodes: Iterable<Ino>
  readonly names: readonly Link[]
}

/** A session that holds the lease. */
export interface LeaseHolder {
  /** Files without a name that other sessions have open. */
  readonly heldByOthers: () => Promise<ReadonlySet<Ino>>
}

/** How a batch is written: by a holder of the lease, or late, into a rescue layer. */
interface Manner {
  readonly holder?: LeaseHolder | undefined
  readonly isLate?: boolean
}

/** A session must know what it had open; of a larger tree, what it saw last. */
const shownMax = 200_000

/** What there is for a session under a token. */
export class SessionScope {
  readonly grant: Grant
  readonly budget: Budget | undefined
  #shown = new Set<Ino>()
  readonly #stored = new Set<Hash>()
  readonly #holdings: Holdings
  readonly #memory: LeaseStore
  readonly #nowMs: () => number
  /** What was noted as replacing something for a batch that may have to be asked about again. */
  readonly #noted = new WeakMap<readonly Op[], ReadonlySet<Ino>>()
  #session = ''
  /** It began before servers kept notes: there is nothing to hold it to. */
  #isOld = false

  readonly #identity: string

  constructor({ identity, grant, budget }: Scope, memory: LeaseStore, nowMs: () => number) {
    this.#holdings = new Holdings(memory, identity, nowMs)
    this.#memory = memory
    this.#nowMs = nowMs
    this.#identity = identity
    this.grant = grant
    this.budget = budget
  }

  /**
   * A new session's, or an old one's that this token had. A token may also resume sessions of tokens that were
   * narrowed from it: it takes over what a killed sandbox left. Never the other way round.
   */
  sessionId(wanted: string): SessionId {
    if (wanted === '') return this.#goOn(sessionIds.newTokenSession(this.#identity, randomUUID()))
    if (sessionIds.isSessionOf(this.#identity, wanted)) return this.#goOn(wanted)
    throw new CairnError('forbidden', {
      what: `go on with session ${wanted}`,
      reason: `it is not one of this token's`,
      subject: wanted,
    })
  }

  #goOn(session: SessionId): SessionId {
    this.#shown = shownInodes.of(session)
    return session
  }

  /** Whether the session may hear of a file without a name. */
  mayKnow(ino: Ino): boolean {
    return this.seesAll || this.#isHeld(ino)
  }

  /** Whether it may see everything that the log has. */
  get readsAll(): boolean {
    return allowsAll(this.grant, 'read', '/') && allowsAll(this.grant, 'list', '/')
  }

  /** Whether nothing is hidden from it. */
  get seesAll(): boolean {
    return seesAll(this.grant)
  }

  see(view: View): View {
    return scopedView(view, this.grant, {
      has: (ino) => this.#shown.has(ino),
      add: (ino) => this.#show(ino),
    })
  }

  #show(ino: Ino): void {
    this.#shown.add(ino)
    if (this.#shown.size > shownMax) this.#shown.delete(this.#shown.values().next().value!)
  }

  /** Who writes to what lost its last name has seen it before, or its token made it. */
  readonly #isHeld = (ino: Ino): boolean =>
    this.#shown.has(ino) || this.#holdings.isGiven(ino) || this.#isOld

  require(view: View, operation: AccessOperation, ino: Ino): void {
    const isHeld = (held: Ino): boolean => seesAll(this.grant) || this.#shown.has(held)
    requireOnInode(view, this.grant, operation, ino, isHeld)
  }

  /** A writing session begins or resumes: loads what its token was given. */
  async begin(session: SessionId, hasWritten: () => Promise<boolean>): Promise<void> {
    this.#session = session
    await this.#holdings.load()
    const notes = await this.#memory.listNotes(session)
    if (notes.some(({ kind }) => kind === 'begun')) return
    this.#isOld = await hasWritten()
    if (!this.#isOld)
      await this.#memory.addNotes(session, [{ kind: 'begun', value: '' }], this.#nowMs())
  }

  /** The session is over for good. */
  async end(): Promise<void> {
    await this.#memory.removeNotes(this.#session)
  }

  /** Called before the session gets the receipt. */
  async noteStored(id: Hash): Promise<void> {
    const note = { kind: 'blob', value: noteOf(id) } as const
    await this.#memory.addNotes(blobHolderOf(this.#identity), [note], this.#nowMs())
    this.#stored.add(id)
  }

  async noteInodes(first: number, count: number): Promise<void> {
    await this.#holdings.give(first, count)
  }

  /** Holding a hash is no right to what it names: a session writes from what its token has stored. */
  async requireStored(ops: readonly Op[]): Promise<void> {
    const missing = new Set(blobsOf(ops).filter((id) => !this.#stored.has(id)))
    if (this.#isOld || missing.size === 0) return
    // A session may be one of a token that was narrowed from this one.
    const identity = sessionIds.identityOf(this.#session) ?? this.#identity
    const holders = [...new Set([this.#identity, identity])].map(blobHolderOf)
    const found = await this.#memory.findNotes(holders, 'blob', [...missing].map(noteOf))
    const noted = new Set(found)
    for (const id of missing)
      if (noted.has(noteOf(id))) this.#stored.add(id)
      else throw notStored(id)
  }

  /** A session that writes costs other writers something. */
  requireWriter(): void {
    if (!allowsSomewhere(this.grant, 'delete')) this.requireSomewhere('write')
  }

  requireSomewhere(operation: AccessOperation): void {
    if (allowsSomewhere(this.grant, operation)) return
    throw new CairnError('forbidden', {
      what: operation,
      reason: 'the token allows it nowhere',
    })
  }

  /** A directory that only leads to visible paths lists those paths. */
  canList(view: View, ino: Ino): boolean {
    const path = pathOfDirectory(view, ino)
    return path !== undefined && (allows(this.grant, 'list', path) || isWay(this.grant, path))
  }

  /** Whether it may change something in that directory, or below. */
  mayChangeIn(view: View, ino: Ino): boolean {
    const path = pathOfDirectory(view, ino)
    if (path === undefined) return false
    return (['write', 'delete'] as const).some(
      (operation) =>
        allows(this.grant, operation, path) ||
        this.grant.rules.some(
          ({ prefix }) => isWithin(prefix, path) && allows(this.grant, operation, prefix),
        ),
    )
  }

  /**
   * Each operation where it will stand: after those before it. Gives what they add. `read` is `Nodes.readSteps`. Late writes
   * go to a layer of their own, where files without a name belong to no other client.
   */
  async requireAll(
    view: View,
    ops: readonly Op[],
    read: <T>(work: () => Steps<T>) => Promise<T>,
    { holder, isLate = false }: Manner,
  ): Promise<Usage> {
    if (!isLate) await this.#requireClosed(ops, holder)
    // Another session of the token may have replaced something meanwhile.
    if (removesOwn(this.grant) && ops.some(mayRemove)) await this.#holdings.load()
    const { added, replacing } = await read(() => this.#walk(view, ops, isLate))
    await this.#holdings.noteReplaced(replacing)
    this.#noted.set(ops, new Set(replacing))
    return added
  }

  /** What another session has open is not deleted, nor what the token knows only by its number. */
  async #requireClosed(ops: readonly Op[], holder: LeaseHolder | undefined): Promise<void> {
    const reaped = ops.flatMap((op) => (op.type === 'reap' ? [op.ino] : []))
    if (reaped.length === 0) return
    const open = await holder?.heldByOthers()
    const wrong = reaped.find((ino) => !open || open.has(ino) || !this.mayKnow(ino))
    if (wrong !== undefined) throw stillOpen(wrong)
  }

  *#walk(
    view: View,
    ops: readonly Op[],
    isLate: boolean,
  ): Steps<{ readonly added: Usage; readonly replacing: readonly Ino[] }> {
    const changes = new Changes(view)
    const replaced = new Set<Ino>()
    const noted = this.#noted.get(ops)
    const isOwn = (ino: Ino): boolean =>
      (this.#holdings.isOwn(ino) || noted?.has(ino) === true) && !replaced.has(ino)
    const isHeld = isLate ? () => true : this.#isHeld
    for (const op of ops) {
      if (op.type === 'create') this.#requireGiven(op.ino)
      requireOperation(changes, this.grant, op, { isHeld, isOwn })
      const replacing = inoReplacing(changes, this.grant, op, isOwn)
      if (replacing !== undefined) replaced.add(replacing)
      applyOp(changes, op)
      if (op.type === 'create') this.#show(op.ino)
      yield
    }
    return { added: yield* growthOf(changes, view), replacing: [...replaced] }
  }

  /** A number that another client was given would break that client's next create. */
  #requireGiven(ino: Ino): void {
    if (this.#isOld || this.#holdings.isGiven(ino)) return
    throw new CairnError('forbidden', {
      what: `create inode ${ino}`,
      reason: 'the number was not given to this token; ask for some with an inodes message',
      subject: String(ino),
    })
  }

  /**
   * What the session may know of what changed. Told as it is now: what came out of hiding is new, what went into it is
   * gone. Throws NodeMiss.
   */
  touched(view: View, { inodes, names }: TouchedNames): TouchedNames {
    const seen = this.see(view)
    const isSeen = (link: Link): boolean => {
      const place = placeOf(view, link)
      return place !== undefined && isVisible(this.grant, place)
    }
    return {
      inodes: [...inodes].filter((ino) => seen.inode(ino) !== undefined || this.#shown.has(ino)),
      names: names.filter(isSeen),
    }
  }
}

/** A mount that recovers stores content in one session, and writes from it in another of the same token. */
function blobHolderOf(identity: string): string {
  return `blobs:${identity}`
}

function noteOf(id: Hash): string {
  return Buffer.from(id, 'latin1').toString('hex')
}

function blobsOf(ops: readonly Op[]): readonly Hash[] {
  return ops.flatMap((op) => ('data' in op && op.data.type === 'blob' ? [op.data.id] : []))
}

function mayRemove({ type }: Op): boolean {
  return type === 'unlink' || type === 'rmdir' || type === 'rename'
}

function stillOpen(ino: Ino): CairnError {
  return new CairnError('forbidden', {
    what: `reap inode ${ino}`,
    reason: 'another client may have it open; the server deletes it when none has',
    subject: String(ino),
  })
}

function pathOfDirectory(view: View, ino: Ino): string | undefined {
  const home = view.inode(ino)?.home
  return home ? placeOf(view, home) : '/'
}

/** What operations change, by number and name, as far as they say so themselves. Throws NodeMiss. */
export function touchedBy(view: View, ops: readonly Op[]): TouchedNames {
  const inodes = new Set<Ino>()
  const names: Link[] = []
  const add = (parent: Ino, name: Link['name']): void => {
    inodes.add(parent)
    names.push({ parent, name })
    const child = view.child(parent, name)
    if (child) inodes.add(child.ino)
  }
  for (const op of ops) {
    if ('ino' in op && op.type !== 'create') inodes.add(op.ino)
    if ('parent' in op) add(op.parent, op.name)
    if (op.type === 'rename') add(op.newParent, op.newName)
  }
  return { inodes, names }
}

/** A batch for a session that may not see everything. Neither the name of the tree nor, of what is hidden, its author is told. */
export function maskBatch(batch: Batch, isTouched: boolean): Uint8Array {
  const { type } = batch.body
  const hidden = { previous: genesis, session: '' as SessionId, toolCall: undefined }
  if (type === 'epoch' || type === 'state') return encodeBatch({ ...batch, ...hidden })
  if (!isTouched) {
    const body = { type: 'masked', change: 'nothing' } as const
    return encodeBatch({ ...batch, ...hidden, actor: '' as ActorId, body })
  }
  const change = type === 'ops' ? 'writes' : 'replacement'
  const body = { type: 'masked', change } as const
  return encodeBatch({ ...batch, previous: genesis, toolCall: undefined, body })
}
