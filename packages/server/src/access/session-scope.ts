import { randomUUID } from 'node:crypto'
import {
  applyOp,
  type Batch,
  Changes,
  encodeBatch,
  genesis,
  growthOf,
  type Link,
  type Op,
  placeOf,
  requireOnInode,
  requireOperation,
  scopedView,
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
  seesAll,
  type SessionId,
} from '@cairn/protocol'
import { notStored } from '../sessions/stored-blobs.ts'
import type { Scope } from './access.ts'
import type { Budget } from './budget.ts'

/** What changed, as a session is told. */
export interface Touched {
  readonly inodes: Iterable<Ino>
  readonly names: readonly Link[]
}

/** A session must know what it had open; of a larger tree, what it saw last. */
const shownMax = 200_000

/** What there is for a session under a token. */
export class SessionScope {
  readonly grant: Grant
  readonly budget: Budget | undefined
  readonly #shown = new Set<Ino>()
  readonly #stored = new Set<Hash>()
  #trustsBlobs = false

  readonly #identity: string

  constructor({ identity, grant, budget }: Scope) {
    this.#identity = identity
    this.grant = grant
    this.budget = budget
  }

  /**
   * A new session's, or an old one's that this token had. A token may also go on with sessions of those that were
   * narrowed from it: it takes over what a killed sandbox left. Never the other way round.
   */
  sessionId(wanted: string): SessionId {
    const own = `s_${this.#identity}`
    if (wanted === '') return `${own}.${randomUUID()}` as SessionId
    if (wanted.startsWith(`${own}.`) || wanted.startsWith(`${own}~`)) return wanted as SessionId
    throw new CairnError('forbidden', {
      message: `cannot go on with session ${wanted}: it is not one of this token's`,
      subject: wanted,
    })
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

  readonly #isHeld = (ino: Ino): boolean => seesAll(this.grant) || this.#shown.has(ino)

  require(view: View, operation: AccessOperation, ino: Ino): void {
    requireOnInode(view, this.grant, operation, ino, this.#isHeld)
  }

  /** It goes on from an earlier connection, over which it may have stored what it writes from now. */
  resume(): void {
    this.#trustsBlobs = true
  }

  noteStored(id: Hash): void {
    this.#stored.add(id)
  }

  /** Holding a hash is no right to what it names: a session writes from what it has sent itself. */
  requireStored(ops: readonly Op[]): void {
    for (const op of ops) {
      if (this.#trustsBlobs || !('data' in op) || op.data.type !== 'blob') continue
      if (!this.#stored.has(op.data.id)) throw notStored(op.data.id)
    }
  }

  requireSomewhere(operation: AccessOperation): void {
    if (allowsSomewhere(this.grant, operation)) return
    throw new CairnError('forbidden', {
      message: `cannot ${operation}: the token allows it nowhere`,
    })
  }

  /** Of what is only on the way, the way is listed. */
  canList(view: View, ino: Ino): boolean {
    const path = pathOfDirectory(view, ino)
    return path !== undefined && (allows(this.grant, 'list', path) || isWay(this.grant, path))
  }

  /** Each operation where it will stand: after those before it. Gives what they add. Throws NodeMiss. */
  *requireAll(view: View, ops: readonly Op[]): Steps<Usage> {
    const changes = new Changes(view)
    for (const op of ops) {
      requireOperation(changes, this.grant, op, this.#isHeld)
      applyOp(changes, op)
      if (op.type === 'create') this.#show(op.ino)
      yield
    }
    return yield* growthOf(changes, view)
  }

  /**
   * What the session may know of what changed. Told as it is now: what came out of hiding is new, what went into it is
   * gone. Throws NodeMiss.
   */
  touched(view: View, { inodes, names }: Touched): Touched {
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

function pathOfDirectory(view: View, ino: Ino): string | undefined {
  const home = view.inode(ino)?.home
  return home ? placeOf(view, home) : '/'
}

/** What operations change, by number and name, as far as they say so themselves. Throws NodeMiss. */
export function touchedBy(view: View, ops: readonly Op[]): Touched {
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

/**
 * A batch for a session that may not see everything: that something changed, to be asked for by its number, or that
 * nothing did. Neither who did it nor what the tree is called tells of what is hidden; only whether files were changed
 * or replaced, which open ones must be told apart by.
 */
export function maskBatch(batch: Batch, isTouched: boolean): Uint8Array {
  const nobody = { session: '' as SessionId, actor: '' as ActorId, previous: genesis }
  if (batch.body.type !== 'ops' && batch.body.type !== 'root')
    return encodeBatch({ ...batch, session: nobody.session, previous: genesis })
  if (!isTouched) return encodeBatch({ ...batch, ...nobody, body: { type: 'ops', ops: [] } })
  const none = { root: genesis, orphans: genesis }
  const cause = batch.body.type === 'ops' ? 'commit' : 'rollback'
  const change = { cause, before: none, after: none, subject: '', message: '' } as const
  return encodeBatch({ ...batch, previous: genesis, body: { type: 'root', change } })
}
