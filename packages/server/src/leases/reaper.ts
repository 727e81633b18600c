import { randomUUID } from 'node:crypto'
import { type Batch, type Branch, isClosedState, type Op, sessionIds, type View } from '@cairn/core'
import { type ActorId, FsError, type Ino, isCairnError } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'
import type { LeaseKeeper } from './lease-keeper.ts'

export interface ReaperParts {
  readonly branch: Branch
  readonly keeper: LeaseKeeper
  readonly clock: Clock
  readonly leaseMs: number
}

/** How long a file stays after it lost its last name. Sessions say what they hold every third of a lease time. */
const graceLeases = 2
/** The limit of one batch. */
const inosMax = 10_000

/**
 * Deletes files that have no name and that no session has open. Only a server can decide that: the holder of the lease
 * knows what its own programs have open, and nothing of the mounts that only read. A reap changes nothing that a holder
 * could build on, so it goes into the log without a recall. Every server that has the branch open does this; the one
 * that comes second finds nothing to reap.
 */
export class Reaper {
  readonly #parts: ReaperParts
  readonly #session = sessionIds.reaperSession(randomUUID())
  #lastNumber = 0
  /** When this server first saw each of them without a name. By its own clock: those of mounts may differ. */
  readonly #sinceMs = new Map<Ino, number>()
  #isLooking = false

  constructor(parts: ReaperParts) {
    this.#parts = parts
    // Sessions that died before this server began may have left some.
    void this.#keepLooking()
  }

  hear({ body }: Batch): void {
    if (this.#isLooking || body.type !== 'ops') return
    if (body.ops.some(takesName)) void this.#keepLooking()
  }

  async #keepLooking(): Promise<void> {
    const { clock, leaseMs } = this.#parts
    this.#isLooking = true
    try {
      while (await this.#look()) await clock.sleep(leaseMs)
    } catch {
      // The store does not answer: the next removal tries again.
    }
    this.#isLooking = false
  }

  /** Whether files without a name are left. */
  async #look(): Promise<boolean> {
    const { branch, clock, leaseMs } = this.#parts
    const seq = branch.head.position.seq
    const nameless = await branch.head.nameless()
    const known = new Set(nameless)
    for (const ino of this.#sinceMs.keys()) if (!known.has(ino)) this.#sinceMs.delete(ino)
    if (isClosedState(branch.head.position.state)) return false
    // What came in meanwhile may have taken a name.
    if (nameless.length === 0) return branch.head.position.seq !== seq
    const nowMs = clock.nowMs()
    const due = nameless.filter((ino) => {
      const sinceMs = this.#sinceMs.get(ino)
      if (sinceMs === undefined) this.#sinceMs.set(ino, nowMs)
      return sinceMs !== undefined && nowMs - sinceMs >= graceLeases * leaseMs
    })
    if (due.length > 0) await this.#reap(due)
    return true
  }

  async #reap(due: readonly Ino[]): Promise<void> {
    const { branch, keeper, clock } = this.#parts
    const { epoch } = await keeper.look()
    // One that is silent may have acknowledged writes to such files and come back with them.
    if (keeper.holders.some((holder) => !keeper.liveWriters.includes(holder))) return
    const held = await keeper.heldInodes.findAll()
    const free = due.filter((ino) => !held.has(ino)).slice(0, inosMax)
    if (free.length === 0) return
    const time = clock.now()
    const author = { session: this.#session, number: ++this.#lastNumber, actor: server, time }
    try {
      await branch.transact(author, (view) => reapsOf(view, free), { epoch })
    } catch (error) {
      if (!(error instanceof FsError) && !isCairnError(error, 'stale_epoch')) throw error
    }
  }
}

const server = 'server' as ActorId

function reapsOf(view: View, inos: readonly Ino[]): readonly Op[] {
  const reaps = inos.flatMap((ino) =>
    view.inode(ino)?.nlink === 0 ? [{ type: 'reap', ino } as const] : [],
  )
  // Another server was quicker: an empty batch would only make the log longer.
  if (reaps.length === 0) throw new FsError('ENOENT')
  return reaps
}

function takesName({ type }: Op): boolean {
  return type === 'unlink' || type === 'rmdir' || type === 'rename'
}
