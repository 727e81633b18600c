import { randomUUID } from 'node:crypto'
import {
  type Author,
  type Branch,
  inSteps,
  type Op,
  type Receipt,
  requireInside,
  sessionIds,
  type Steps,
  type View,
} from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import type { Scope } from '../access/access.ts'
import { Holdings } from '../access/holdings.ts'
import { whilePresent } from '../access/present.ts'
import { editScope, type ScopedEdit } from '../access/scoped-edit.ts'
import { InodeRange } from '../files/inode-range.ts'
import { TreeEdit } from '../files/tree-edit.ts'
import { type Given, LookedView, MoreDirectories } from '../leases/given.ts'
import { type Keyed, noteAnswer, readNoted } from '../once/once.ts'
import type { OpenWorkspace } from './open-workspace.ts'

/** Who asks, and under which key they may ask again. */
export interface Asker extends Keyed {
  /** Set when the caller is a token; limits what it can see. */
  readonly scope?: Scope
  /** The call of an agent's tool that it is part of. */
  readonly toolCall?: string | undefined
  /** Aborted when the client has gone: what is not decided by then is given up. */
  readonly gone?: AbortSignal
}

/** Makes a change through the edit; in steps, if it may be long. */
export type Decide<T> = (edit: TreeEdit) => T | Steps<T>

/** Tokens that write over HTTP at about the same time. */
const tokenRangesMax = 10_000

interface ChangeParts {
  readonly limit: string | undefined
  readonly scoped?: ScopedEdit
  readonly epoch: number
  readonly newIno: () => Ino
  /** The directories that the holder of the lease has given back; undefined where it has given back everything. */
  readonly given?: Given | undefined
}

/** What changing by path needs of the workspace. */
type Needed = Pick<OpenWorkspace, 'clock' | 'lease' | 'limitOf' | 'notes' | 'stores' | 'takeInodes'>

/** Changes of a workspace's trees by path: over HTTP, and of everything that is not a mount. */
export class PathChanges {
  readonly #workspace: Needed
  readonly #inodes: InodeRange
  readonly #tokenInodes = new Map<string, InodeRange>()
  readonly #session = sessionIds.processSession(randomUUID())
  #lastNumber = 0

  constructor(workspace: Needed) {
    this.#workspace = workspace
    this.#inodes = new InodeRange(workspace.takeInodes)
  }

  /**
   * Changes the tree by path, all or nothing, decided on what the tree is at that very moment. The result must survive
   * JSON: a repeated request gets the first one again. It is missing only for a change of an older server.
   */
  async change<T>(
    branch: Branch,
    asker: Asker,
    decide: Decide<T>,
  ): Promise<{ receipt: Receipt; result: T | undefined }> {
    const { notes, clock } = this.#workspace
    const limit = await this.#workspace.limitOf(branch.id)
    const { scope } = asker
    const holdings = scope && new Holdings(notes, scope.identity, () => clock.nowMs())
    const inodes = scope ? this.#inodesOf(scope, holdings!) : this.#inodes
    const keeper = this.#workspace.lease(branch)
    let last: Given | undefined
    const change = (
      epoch: number,
      given?: Given,
    ): Promise<{ receipt: Receipt; result: T | undefined }> => {
      last = given
      const parts = { limit, epoch, newIno: inodes.next, given }
      return keeper.room.whenRoom(undefined, () =>
        asker.scope
          ? editScope(asker.scope, holdings!, (scoped) =>
              this.#change(branch, asker, decide, { ...parts, scoped }),
            )
          : this.#change(branch, asker, decide, parts),
      )
    }
    // The turn first, then the token's budget: the holder that hands over may have to use the same one.
    const changed = await inodes.supply(() => keeper.withDirectories(change))
    // A client that gets the answer and looks into a mount must find the change there.
    await keeper.whenSeen(changed.receipt.seq, undefined, last?.changed)
    return changed
  }

  /** What is created under a token has numbers that were given to it: so it is known who created it. */
  #inodesOf({ identity }: Scope, holdings: Holdings): InodeRange {
    let range = this.#tokenInodes.get(identity)
    if (!range) {
      range = new InodeRange(async (count) => {
        const first = await this.#workspace.takeInodes(count)
        await holdings.give(first, count)
        return first
      })
      this.#tokenInodes.set(identity, range)
      if (this.#tokenInodes.size > tokenRangesMax)
        this.#tokenInodes.delete(this.#tokenInodes.keys().next().value!)
    }
    return range
  }

  async #change<T>(
    branch: Branch,
    asker: Asker,
    decide: Decide<T>,
    { limit, scoped, epoch, newIno, given }: ChangeParts,
  ): Promise<{ receipt: Receipt; result: T | undefined }> {
    const guard = (view: View, op: Op): void => {
      scoped?.require(view, op)
      if (limit !== undefined) requireInside(view, op, limit)
    }
    let result: T | undefined
    const attempt = function* (this: PathChanges, view: View): Steps<readonly Op[]> {
      const reapsAtOnce = this.#workspace.lease(branch).isUnused
      const env = { now: this.#workspace.clock.now(), newIno, reapsAtOnce }
      const looked = new LookedView(view)
      const seen = given ? looked : view
      const edit = new TreeEdit(scoped?.see(seen) ?? seen, env, guard)
      const deciding = function* (): Steps<T> {
        return yield* whilePresent(asker.gone, inSteps(decide(edit)))
      }
      result = yield* given ? given.deciding(looked, deciding) : deciding()
      given?.require(view, edit.ops)
      if (scoped) yield* scoped.count(edit.view, view)
      return edit.ops
    }.bind(this)
    if (given?.isNew) await this.#findDirectories(() => attempt(branch.head.view))
    if (given) given.changed = undefined
    const charge = scoped && (() => scoped.charge())
    const isKeyed = asker.idempotencyKey !== undefined
    const answer = isKeyed ? (): string => noteAnswer(asker, result) : undefined
    const author = this.#author(asker)
    const receipt = await branch.transact(author, attempt, { epoch, charge, answer })
    // A repeated request decided nothing: its result is the one that its batch noted.
    if (receipt.answer !== undefined) result = readNoted<T>(receipt.answer, asker)
    return { receipt, result }
  }

  /**
   * Before the change has its turn in the log: it would wait for two of them. Throws MoreDirectories. Whatever else it
   * meets here is not the answer, as the log may have the change already.
   */
  async #findDirectories(attempt: () => Steps<unknown>): Promise<void> {
    try {
      await this.#workspace.stores.nodes.readSteps(attempt)
    } catch (error) {
      if (error instanceof MoreDirectories) throw error
    }
  }

  /**
   * Without a key of its own a request is one more of this process's session: it will not be
   * repeated.
   */
  #author({ actor, idempotencyKey, toolCall }: Asker): Author {
    const time = this.#workspace.clock.now()
    const isKeyed = idempotencyKey !== undefined
    const session = isKeyed ? sessionIds.requestSession(actor, idempotencyKey) : this.#session
    const number = isKeyed ? 1 : ++this.#lastNumber
    return { actor, session, number, time, toolCall }
  }

  /** Whether the log has what was asked under this key. */
  async isDone({ id }: Branch, { actor, idempotencyKey }: Asker): Promise<boolean> {
    if (idempotencyKey === undefined) return false
    const session = sessionIds.requestSession(actor, idempotencyKey)
    return (await this.#workspace.stores.log.lastNumber(id, session)) > 0
  }
}
