import type { BranchId, SessionId } from '@cairn/protocol'
import type { LeaseDeadline, LeaseRecord, LeaseWriter } from '../ports/lease-store.ts'

/** How long after its last receipt a holder is waited for, and how long in all. */
export interface Patience {
  readonly ms: number
  readonly mostMs: number
}

export interface Transition {
  readonly record: LeaseRecord
  /**
   * It needs an epoch of its own: a session gets the lease, or loses it while it may still believe
   * to have it. A session that handed it back, or left, does not.
   */
  readonly newEpoch: boolean
}

export function newLease(branch: BranchId): LeaseRecord {
  return { branch, holder: undefined, recalled: false, writers: [], epoch: 1, version: 0 }
}

/** Another writer arrives, or one comes back, or a one-off write wants its moment. */
export function join(
  record: LeaseRecord,
  writer: LeaseWriter,
  nowMs: number,
  patience: Patience = forEver,
): Transition {
  const others = record.writers.filter(({ session }) => session !== writer.session)
  const { record: alive, fence } = withoutExpired(
    { ...record, writers: [...others, writer] },
    nowMs,
  )
  const isWanted = alive.holder !== undefined && alive.writers.length > 1 && !areTogether(alive)
  const recalled = alive.recalled || isWanted
  const deadline = recalled ? (alive.deadline ?? deadlineFrom(nowMs, patience)) : undefined
  return granted({ ...alive, recalled, deadline }, fence)
}

/** The holder got a receipt: it is at it. The same record when nothing changes. */
export function progress(
  record: LeaseRecord,
  session: SessionId,
  nowMs: number,
  { ms }: Patience,
): LeaseRecord {
  const { holder, deadline } = record
  if (holder !== session || !deadline) return record
  const moved = Math.min(nowMs + ms, deadline.lastMs)
  // Not with each of them: every time it is a write to the store.
  if (moved - deadline.ms < ms / 4) return record
  return { ...record, deadline: { ...deadline, ms: moved } }
}

export function isOverdue({ deadline }: LeaseRecord, nowMs: number): boolean {
  return deadline !== undefined && deadline.ms <= nowMs
}

const forEver: Patience = { ms: Infinity, mostMs: Infinity }

function deadlineFrom(nowMs: number, { ms, mostMs }: Patience): LeaseDeadline {
  return { ms: nowMs + ms, lastMs: nowMs + mostMs }
}

/** Undefined when the session has been given up: it must join again. */
export function renew(
  record: LeaseRecord,
  writer: LeaseWriter,
  nowMs: number,
): Transition | undefined {
  if (!record.writers.some(({ session }) => session === writer.session)) return undefined
  const writers = record.writers.map((other) => (other.session === writer.session ? writer : other))
  const { record: alive, fence } = withoutExpired({ ...record, writers }, nowMs)
  return granted(alive, fence)
}

/** The holder has sent everything it acknowledged in that epoch. In another one it speaks of a lease long gone. */
export function release(record: LeaseRecord, session: SessionId, epoch: number): Transition {
  if (record.holder !== session || record.epoch !== epoch) return unchanged(record)
  return granted({ ...record, ...unheld })
}

/** The log did not take something that the session acknowledged in that epoch: what was built on it ends with the epoch. */
export function forfeit(record: LeaseRecord, session: SessionId, epoch: number): Transition {
  const isOthers = record.holder !== undefined && record.holder !== session
  if (isOthers || record.epoch !== epoch) return unchanged(record)
  return granted({ ...record, ...unheld }, true)
}

/** A session that works while no session holds the lease gets it, beside the others. */
export function grantBeside(record: LeaseRecord, session: SessionId): Transition {
  if (record.holder !== undefined || !areTogether(record)) return unchanged(record)
  if (!record.writers.some((writer) => writer.session === session)) return unchanged(record)
  return { record: { ...record, holder: session }, newEpoch: true }
}

/** The holder is to hand its lease back, for another session that works. */
export function recall(record: LeaseRecord, nowMs: number, patience: Patience): LeaseRecord {
  if (record.holder === undefined || record.recalled) return record
  return { ...record, recalled: true, deadline: deadlineFrom(nowMs, patience) }
}

/** All writers give single directories back, and to the same server: one of them may hold the lease beside the others. */
export function areTogether({ writers }: LeaseRecord): boolean {
  const [first] = writers
  const server = first?.sharesAt
  return server !== undefined && writers.every(({ sharesAt }) => sharesAt === server)
}

/** A writer goes, with everything it acknowledged at the server. */
export function leave(record: LeaseRecord, session: SessionId): Transition {
  if (!record.writers.some((writer) => writer.session === session)) return unchanged(record)
  const writers = record.writers.filter((writer) => writer.session !== session)
  const freed = record.holder === session ? unheld : {}
  return granted({ ...record, writers, ...freed })
}

const unheld = { holder: undefined, recalled: false, deadline: undefined } as const

export function unchanged(record: LeaseRecord): Transition {
  return { record, newEpoch: false }
}

/**
 * A lease that ran out is taken away only when another session wants to write: a sandbox that was
 * cut off alone comes back to find everything as it was. A lease that should have been handed back
 * by now is taken away, too; its holder stays a writer if it is alive.
 */
function withoutExpired(
  record: LeaseRecord,
  nowMs: number,
): { readonly record: LeaseRecord; readonly fence: boolean } {
  const writers = record.writers.filter(({ expiresAtMs }) => expiresAtMs > nowMs)
  const isAlive = writers.some(({ session }) => session === record.holder)
  const fence = record.holder !== undefined && (!isAlive || isOverdue(record, nowMs))
  const freed = fence ? unheld : {}
  return { fence, record: { ...record, writers, ...freed } }
}

/** The only writer holds the lease. */
function granted(record: LeaseRecord, fence = false): Transition {
  const [only, ...others] = record.writers
  if (record.holder !== undefined || !only || others.length > 0) return { record, newEpoch: fence }
  return { record: { ...record, holder: only.session }, newEpoch: true }
}
