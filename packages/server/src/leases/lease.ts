import type { BranchId, SessionId } from '@cairn/protocol'
import type { LeaseDeadline, LeaseRecord, LeaseWriter } from '../ports/lease-store.ts'

/** How long after its last receipt a holder is waited for, and how long in all. */
export interface Patience {
  readonly ms: number
  readonly mostMs: number
}

const recallLeases = 3
const recallLeasesMax = 60

/** 30 s and 10 min with ordinary leases. */
export function patienceFor(leaseMs: number): Patience {
  return { ms: recallLeases * leaseMs, mostMs: recallLeasesMax * leaseMs }
}

export interface Transition {
  readonly record: LeaseRecord
  /**
   * It needs an epoch of its own: a session gets the lease, or one loses it while it may still believe to have it.
   * Sessions that handed it back, or left, do not; nor does one that becomes a holder beside another one.
   */
  readonly newEpoch: boolean
}

export function newLease(branch: BranchId): LeaseRecord {
  return { branch, ...unheld, writers: [], epoch: 1, version: 0 }
}

/** Who may acknowledge, or has acknowledged and not handed in. */
export function holdersOf({ holder, coHolders }: LeaseRecord): readonly SessionId[] {
  return holder === undefined ? [] : [holder, ...coHolders]
}

/** Another writer arrives, or one comes back, or a one-off write wants its moment. */
export function join(
  record: LeaseRecord,
  writer: LeaseWriter,
  nowMs: number,
  patience: Patience = forEver,
): Transition {
  const others = record.writers.filter(({ session }) => session !== writer.session)
  const joined = { ...record, writers: [...others, writer] }
  const { record: alive, fence } = withoutExpired(joined, nowMs, patience)
  const isWanted = alive.writers.length > 1 && !areTogether(alive)
  return granted(isWanted ? recall(alive, nowMs, patience) : alive, fence)
}

/** A holder got a receipt: it is at it. The same record when nothing changes. */
export function progress(
  record: LeaseRecord,
  session: SessionId,
  nowMs: number,
  { ms }: Patience,
): LeaseRecord {
  const { deadline } = record
  if (!deadline || !holdersOf(record).includes(session)) return record
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
  patience: Patience = forEver,
): Transition | undefined {
  if (!record.writers.some(({ session }) => session === writer.session)) return undefined
  const writers = record.writers.map((other) => (other.session === writer.session ? writer : other))
  const { record: alive, fence } = withoutExpired({ ...record, writers }, nowMs, patience)
  return granted(alive, fence)
}

/** A holder has sent everything it acknowledged in that epoch. In another one it speaks of a lease long gone. */
export function release(record: LeaseRecord, session: SessionId, epoch: number): Transition {
  if (record.epoch !== epoch) return unchanged(record)
  return withoutHolder(record, session)
}

/**
 * The log did not take something that the session acknowledged in that epoch: what was built on it ends with the epoch.
 * Other holders hand in first, and then this is asked again.
 */
export function forfeit(
  record: LeaseRecord,
  session: SessionId,
  epoch: number,
  nowMs: number,
  patience: Patience = forEver,
): Transition {
  if (record.epoch !== epoch) return unchanged(record)
  const { record: alive, fence } = withoutExpired(record, nowMs, patience)
  const others = holdersOf(alive).filter((holder) => holder !== session)
  if (!fence && others.some((holder) => isWriter(alive, holder)))
    return unchanged(recall(alive, nowMs, patience))
  return granted({ ...alive, ...unheld }, true)
}

/** A session that works while no session holds the lease gets it, beside the others. */
export function grantBeside(record: LeaseRecord, session: SessionId): Transition {
  if (record.holder !== undefined || !areTogether(record) || !isWriter(record, session))
    return unchanged(record)
  return { record: { ...record, holder: session }, newEpoch: true }
}

/** A session that works beside a holder becomes one, too, in the same epoch. */
export function addHolder(record: LeaseRecord, session: SessionId, epoch: number): LeaseRecord {
  const mayHold = areTogether(record) && isWriter(record, session)
  const holders = holdersOf(record)
  if (record.epoch !== epoch || record.recalled || !mayHold) return record
  if (holders.length === 0 || holders.includes(session)) return record
  return { ...record, coHolders: [...record.coHolders, session] }
}

/** All holders are to hand in what they acknowledged. */
export function recall(record: LeaseRecord, nowMs: number, patience: Patience): LeaseRecord {
  if (record.holder === undefined || record.recalled) return record
  return { ...record, recalled: true, deadline: deadlineFrom(nowMs, patience) }
}

/** All writers give single directories back, and to the same server: some of them may hold the lease beside the others. */
export function areTogether({ writers }: LeaseRecord): boolean {
  const [first] = writers
  const server = first?.sharesAt
  return server !== undefined && writers.every(({ sharesAt }) => sharesAt === server)
}

/** A writer goes, with everything it acknowledged at the server. */
export function leave(record: LeaseRecord, session: SessionId): Transition {
  if (!isWriter(record, session) && !holdersOf(record).includes(session)) return unchanged(record)
  const writers = record.writers.filter((writer) => writer.session !== session)
  return withoutHolder({ ...record, writers }, session)
}

const unheld = {
  holder: undefined,
  coHolders: [],
  recalled: false,
  deadline: undefined,
} as const

export function unchanged(record: LeaseRecord): Transition {
  return { record, newEpoch: false }
}

function isWriter({ writers }: LeaseRecord, session: SessionId): boolean {
  return writers.some((writer) => writer.session === session)
}

/**
 * A session has handed in. The epoch ends with the last holder that is alive if another one never handed in: what that
 * one acknowledged may come late.
 */
function withoutHolder(record: LeaseRecord, session: SessionId): Transition {
  const holders = holdersOf(record)
  const left = holders.filter((holder) => holder !== session)
  if (left.length === holders.length) return granted(record)
  const [holder, ...coHolders] = left
  if (left.some((other) => isWriter(record, other)))
    return granted({ ...record, holder, coHolders })
  return granted({ ...record, ...unheld }, left.length > 0)
}

/**
 * A lease that ran out is taken away only when another session wants to write: a sandbox that was
 * cut off alone comes back to find everything as it was. A lease that should have been handed back
 * by now is taken away, too; its holder stays a writer if it is alive. Holders that are alive hand in first: ending the
 * epoch would send what they acknowledged to rescue layers.
 */
function withoutExpired(
  record: LeaseRecord,
  nowMs: number,
  patience: Patience,
): { readonly record: LeaseRecord; readonly fence: boolean } {
  const writers = record.writers.filter(({ expiresAtMs }) => expiresAtMs > nowMs)
  const left = { ...record, writers }
  const holders = holdersOf(left)
  const alive = holders.filter((holder) => isWriter(left, holder))
  const fence = holders.length > 0 && (alive.length === 0 || isOverdue(record, nowMs))
  if (fence) return { fence, record: { ...left, ...unheld } }
  const isWhole = alive.length === holders.length
  return { fence, record: isWhole ? left : recall(left, nowMs, patience) }
}

/** The only writer holds the lease. */
function granted(record: LeaseRecord, fence = false): Transition {
  const [only, ...others] = record.writers
  if (record.holder !== undefined || !only || others.length > 0) return { record, newEpoch: fence }
  return { record: { ...record, holder: only.session }, newEpoch: true }
}
