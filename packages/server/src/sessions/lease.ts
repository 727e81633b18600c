import type { BranchId, SessionId } from '@cairn/protocol'

/** A session that may write to a branch, for as long as it keeps saying so. */
export interface Writer {
  readonly session: SessionId
  readonly expiresAtMs: number
}

/**
 * Who may write to a branch, and how. With a holder, that session acknowledges writes to its own programs before
 * the server has seen them; everyone else waits. Without one the branch is shared: the server answers each write.
 */
export interface LeaseRecord {
  readonly branch: BranchId
  readonly holder: SessionId | undefined
  /** The holder has been asked to hand the lease back. */
  readonly recalled: boolean
  readonly writers: readonly Writer[]
  /** Grows with each update. */
  readonly version: number
}

/** What has to happen before the new record may be written down. */
export interface Transition {
  readonly record: LeaseRecord
  /** The holder is gone without a word: raise the epoch, so that what it still sends is refused. */
  readonly fence: boolean
}

export function newLease(branch: BranchId): LeaseRecord {
  return { branch, holder: undefined, recalled: false, writers: [], version: 0 }
}

/** Another writer arrives, or a one-off write for its moment. */
export function join(record: LeaseRecord, writer: Writer, nowMs: number): Transition {
  const { record: alive, fence } = withoutExpired(record, nowMs)
  const writers = [...alive.writers.filter(({ session }) => session !== writer.session), writer]
  const recalled = alive.holder !== undefined && alive.holder !== writer.session
  return { fence, record: granted({ ...alive, writers, recalled }) }
}

/** Undefined when the session has been given up: it must join again. */
export function renew(record: LeaseRecord, writer: Writer, nowMs: number): Transition | undefined {
  if (!record.writers.some(({ session }) => session === writer.session)) return undefined
  const writers = record.writers.map((other) => (other.session === writer.session ? writer : other))
  const { record: alive, fence } = withoutExpired({ ...record, writers }, nowMs)
  return { fence, record: granted(alive) }
}

/** The holder has sent everything it acknowledged. */
export function release(record: LeaseRecord, session: SessionId): LeaseRecord {
  return record.holder === session ? { ...record, holder: undefined, recalled: false } : record
}

/** A writer goes, with everything it acknowledged at the server. */
export function leave(record: LeaseRecord, session: SessionId): LeaseRecord {
  const released = release(record, session)
  return granted({
    ...released,
    writers: released.writers.filter((writer) => writer.session !== session),
  })
}

/**
 * A lease that ran out is taken away only when somebody else wants in: a sandbox that was cut off alone
 * comes back to find everything as it was.
 */
function withoutExpired(record: LeaseRecord, nowMs: number): Transition {
  const alive = record.writers.filter(({ expiresAtMs }) => expiresAtMs > nowMs)
  const holderGone =
    record.holder !== undefined && !alive.some(({ session }) => session === record.holder)
  return {
    fence: holderGone,
    record: {
      ...record,
      writers: alive,
      ...(holderGone ? { holder: undefined, recalled: false } : {}),
    },
  }
}

/** The only writer holds the lease. */
function granted(record: LeaseRecord): LeaseRecord {
  const [only, ...others] = record.writers
  if (record.holder !== undefined || !only || others.length > 0) return record
  return { ...record, holder: only.session }
}
