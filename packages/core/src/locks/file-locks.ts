import type { SessionId } from '@cairn/protocol'

/** `posix` are the byte ranges of fcntl, `flock` whole files. One kind knows nothing of the other, as in Linux. */
export const lockKinds = ['posix', 'flock'] as const
export type LockKind = (typeof lockKinds)[number]

export const lockModes = ['none', 'read', 'write'] as const
export type LockMode = (typeof lockModes)[number]

/** The last byte of a lock that has no end. */
export const lockEndMax: number = Number.MAX_SAFE_INTEGER

export interface FileLock {
  readonly session: SessionId
  /** Unique in its session: all processes that share the lock. */
  readonly owner: string
  readonly kind: LockKind
  readonly start: number
  /** The last byte that is locked. */
  readonly end: number
  readonly mode: Exclude<LockMode, 'none'>
  /** The process that asked for it, reported to a caller who asks which lock blocks it. */
  readonly pid: number
}

/**
 * All locks of one file. INVARIANT: locks of one owner and kind neither overlap, nor touch where their mode is the
 * same; a write lock overlaps no lock of another owner of its kind.
 */
export type FileLocks = readonly FileLock[]

/** The lock that a caller wants on a range; `none` unlocks it. */
export type LockChange = Omit<FileLock, 'mode'> & { readonly mode: LockMode }

/** The first lock of another owner that is in the way. */
export function findBlocker(locks: FileLocks, change: LockChange): FileLock | undefined {
  if (change.mode === 'none') return undefined
  return locks.find(
    (lock) =>
      lock.kind === change.kind &&
      !isSameOwner(lock, change) &&
      overlaps(lock, change) &&
      (lock.mode === 'write' || change.mode === 'write'),
  )
}

/** Nothing is changed where another's lock stands in the way. */
export function applyLock(
  locks: FileLocks,
  change: LockChange,
): { readonly locks: FileLocks } | { readonly blocker: FileLock } {
  const blocker = findBlocker(locks, change)
  if (blocker) return { blocker }
  const isOwn = (lock: FileLock): boolean => lock.kind === change.kind && isSameOwner(lock, change)
  const own = locks.filter(isOwn).flatMap((lock) => without(lock, change))
  const { mode } = change
  if (mode !== 'none') own.push({ ...change, mode })
  return { locks: [...locks.filter((lock) => !isOwn(lock)), ...merge(own)] }
}

/** What an owner has in a range. */
export function ownLocks(locks: FileLocks, change: LockChange): FileLocks {
  return locks.filter(
    (lock) => lock.kind === change.kind && isSameOwner(lock, change) && overlaps(lock, change),
  )
}

interface Range {
  readonly start: number
  readonly end: number
}

function overlaps(a: Range, b: Range): boolean {
  return a.start <= b.end && b.start <= a.end
}

function isSameOwner(
  a: Pick<FileLock, 'session' | 'owner'>,
  b: Pick<FileLock, 'session' | 'owner'>,
): boolean {
  return a.session === b.session && a.owner === b.owner
}

/** What is left on both sides of the range. */
function without(lock: FileLock, { start, end }: Range): FileLock[] {
  const pieces: FileLock[] = []
  if (lock.start < start) pieces.push({ ...lock, end: Math.min(lock.end, start - 1) })
  if (lock.end > end) pieces.push({ ...lock, start: Math.max(lock.start, end + 1) })
  return pieces
}

/** Takes the locks of one owner, which do not overlap. */
function merge(locks: FileLocks): FileLocks {
  const merged: FileLock[] = []
  for (const lock of locks.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    if (last && last.mode === lock.mode && last.end + 1 === lock.start)
      merged[merged.length - 1] = { ...last, end: lock.end }
    else merged.push(lock)
  }
  return merged
}
