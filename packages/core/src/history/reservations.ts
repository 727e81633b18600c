import { FsError, type SessionId } from '@cairn/protocol'
import { addUsage, type Limits, noUsage, type Usage } from '../filesystem/usage.ts'

/** There is room, but others were promised it. The caller has them give it back and tries again. */
export class RoomPromised extends FsError {
  constructor() {
    super('EAGAIN')
  }
}

/** How a batch would change the tree, and what the tree holds without it. */
export interface Growth {
  readonly session: SessionId
  readonly used: Usage
  readonly added: Usage
}

const counted = ['bytes', 'files'] as const

/**
 * The room of a branch that sessions were promised: they acknowledge by it before the log has what they acknowledge. A
 * promise ends with its epoch.
 *
 * INVARIANT: as long as the limits stay, what the tree holds and all promises together are within them.
 */
export class Reservations {
  #epoch = 0
  readonly #held = new Map<SessionId, Usage>()
  /** By how much the draft that is being made lets each session grow. */
  readonly #drafted = new Map<SessionId, Usage>()

  of(session: SessionId): Usage {
    return this.#held.get(session) ?? noUsage
  }

  has(session: SessionId): boolean {
    return this.#held.has(session)
  }

  /** Makes the promise as large as `room`, for as long as the epoch lasts. */
  promise(session: SessionId, epoch: number, room: Usage): void {
    this.#enter(epoch)
    this.#held.set(session, room)
  }

  /** Promises end, but for those to these sessions. */
  keepOnly(sessions: readonly SessionId[]): void {
    for (const session of this.#held.keys())
      if (!sessions.includes(session)) this.#held.delete(session)
  }

  /** What no session was promised and no batch under way needs. Less than nothing after limits were lowered. */
  free(limits: Limits, used: Usage): Usage {
    let { bytes, files } = used
    for (const session of this.#sessions) {
      const kept = this.#kept(session)
      bytes += kept.bytes
      files += kept.files
    }
    return { bytes: limits.bytes - bytes, files: limits.files - files }
  }

  beginDraft(epoch: number): void {
    this.#drafted.clear()
    this.#enter(epoch)
  }

  /** What is wrong with the growth: where others have the room, or there is none. */
  judge(
    { session, used, added }: Growth,
    limits: Limits,
  ):
    | { readonly what: keyof Usage; readonly wanted: number; readonly isPromised: boolean }
    | undefined {
    const own = addUsage(this.#drafted.get(session) ?? noUsage, added)
    const free = this.free(limits, used)
    const [kept, held] = [this.#kept(session), this.of(session)]
    for (const what of counted) {
      if (added[what] <= 0 || own[what] <= held[what]) continue
      if (own[what] - kept[what] <= free[what]) continue
      const wanted = used[what] + this.#allDrafted(what) + added[what]
      return { what, wanted, isPromised: wanted <= limits[what] }
    }
    return undefined
  }

  draft(session: SessionId, added: Usage): void {
    this.#drafted.set(session, addUsage(this.#drafted.get(session) ?? noUsage, added))
  }

  /** It is not drafted after all. */
  undraft(session: SessionId, added: Usage): void {
    this.#drafted.set(session, less(this.#drafted.get(session) ?? noUsage, added))
  }

  /** A drafted batch is in the log, and the tree holds what it added. */
  settle(session: SessionId, added: Usage): void {
    this.undraft(session, added)
    const held = this.#held.get(session)
    if (held) this.#held.set(session, notBelowNothing(less(held, notBelowNothing(added))))
  }

  #enter(epoch: number): void {
    if (epoch !== this.#epoch) this.#held.clear()
    this.#epoch = epoch
  }

  get #sessions(): ReadonlySet<SessionId> {
    return new Set([...this.#held.keys(), ...this.#drafted.keys()])
  }

  /** What is not for others. */
  #kept(session: SessionId): Usage {
    const drafted = this.#drafted.get(session) ?? noUsage
    const held = this.#held.get(session)
    if (!held) return drafted
    return {
      bytes: Math.max(held.bytes, drafted.bytes),
      files: Math.max(held.files, drafted.files),
    }
  }

  #allDrafted(what: keyof Usage): number {
    return [...this.#drafted.values()].reduce((sum, drafted) => sum + drafted[what], 0)
  }
}

function less(a: Usage, b: Usage): Usage {
  return { bytes: a.bytes - b.bytes, files: a.files - b.files }
}

function notBelowNothing({ bytes, files }: Usage): Usage {
  return { bytes: Math.max(0, bytes), files: Math.max(0, files) }
}
