import { applyLock, type FileLocks, type LockChange, type LockMode, ownLocks } from '@cairn/core'
import { FsError, type Ino, isFsError, type SessionId } from '@cairn/protocol'
import type { Answer, Lock } from '../fuse/file-system.ts'
import type { SessionQuestion } from '../session/questions.ts'
import { untilAnswered } from '../session/retry.ts'
import { decodeGrant, decodeHeldLocks, decodeLockAnswer } from './answers.ts'

export interface SharedLocksParts {
  readonly ask: (question: SessionQuestion, signal?: AbortSignal) => Promise<Uint8Array>
  readonly isConnected: () => boolean
  /** Resolves when the mount shows the log up to there. */
  readonly whenCurrent: (seq: number) => Promise<void>
  /** Reports in the mount's status that a program lost a lock. */
  readonly note: (message: string) => void
  readonly sleep: (ms: number) => Promise<void>
}

/** All of them are this session's: the server knows which that is. */
const here = '' as SessionId
/** How often a mount that holds locks looks at the time, and after which gap it must have been asleep. */
const lookMs = 1000
const asleepMs = 3000

/**
 * Locks that hold between mounts. The server grants them; granted locks are remembered here as
 * well, so that closing a file without locks needs no request, and so that a lock that was lost
 * while this mount was cut off is noticed.
 */
export class SharedLocks {
  readonly #parts: SharedLocksParts
  readonly #held = new Map<Ino, FileLocks>()
  #watch: NodeJS.Timeout | undefined
  #lookedAt = 0

  constructor(parts: SharedLocksParts) {
    this.#parts = parts
  }

  /** Learns what the session holds: for a process that goes on with it. */
  async recall(): Promise<void> {
    for (const { ino, ...lock } of await this.#askHeld())
      this.#remember(ino, { ...lock, session: here })
  }

  async getlk(ino: Ino, lock: Lock): Promise<Lock> {
    const { owner, start, end, type: mode } = lock
    const question = { type: 'blocker', ino, kind: 'posix', owner, start, end, mode } as const
    const blocker = decodeLockAnswer(await this.#ask(question))
    if (!blocker) return { ...lock, type: 'none' }
    return { owner, start: blocker.start, end: blocker.end, type: blocker.mode, pid: blocker.pid }
  }

  setlk(ino: Ino, lock: Lock, wait: boolean, flock: boolean, signal: AbortSignal): Answer<void> {
    const { owner, start, end, type: mode, pid } = lock
    const kind = flock ? 'flock' : 'posix'
    const change: LockChange = { session: here, owner, kind, start, end, mode, pid }
    if (mode === 'none') return this.#unlock(ino, change)
    return wait && flock && this.#owns(ino, change)
      ? this.#convert(ino, change, signal)
      : this.#lock(ino, change, wait, signal)
  }

  /**
   * After a time in which the server may have given this session up: request again the locks that
   * others took meanwhile.
   */
  async reassert(): Promise<void> {
    const held = [...this.#held].flatMap(([ino, locks]) => locks.map((lock) => ({ ino, lock })))
    if (held.length === 0) return
    const known = new Set((await this.#askHeld()).map(({ ino, ...lock }) => keyOf(ino, lock)))
    for (const { ino, lock } of held)
      if (!known.has(keyOf(ino, lock)) && (await this.#wantBack(ino, lock)))
        this.#parts.note(`${describe(ino, lock)} was free for a while, and is held again`)
  }

  close(): void {
    clearInterval(this.#watch)
  }

  #unlock(ino: Ino, change: LockChange): Answer<void> {
    if (!this.#owns(ino, change)) return
    this.#remember(ino, change)
    const unlocked = this.#askLock(ino, change, false)
    // A server that is away must not keep programs from closing: it hears of it when it is back.
    if (this.#parts.isConnected()) return unlocked.then(() => undefined)
    unlocked.catch((error: unknown) => this.#parts.note(`cannot unlock: ${String(error)}`))
  }

  async #lock(ino: Ino, change: LockChange, wait: boolean, signal: AbortSignal): Promise<void> {
    const seq = decodeGrant(await this.#askLock(ino, change, wait, signal))
    await Promise.race([this.#parts.whenCurrent(seq), whenAborted(signal)])
    if (signal.aborted) {
      await this.#putBack(ino, change)
      throw new FsError('EINTR')
    }
    this.#remember(ino, change)
  }

  /**
   * As Linux does it: a caller that must wait gives up its lock first, or two such callers would
   * wait for each other.
   */
  async #convert(ino: Ino, change: LockChange, signal: AbortSignal): Promise<void> {
    try {
      return await this.#lock(ino, change, false, signal)
    } catch (error) {
      if (!isFsError(error, 'EAGAIN')) throw error
    }
    await this.#unlock(ino, { ...change, mode: 'none' })
    return this.#lock(ino, change, true, signal)
  }

  /** It was granted after its caller had gone: restore the owner's previous lock. */
  async #putBack(ino: Ino, change: LockChange): Promise<void> {
    await this.#askLock(ino, { ...change, mode: 'none' }, false)
    for (const lock of ownLocks(this.#held.get(ino) ?? [], change)) await this.#wantBack(ino, lock)
  }

  /** False when it was unlocked meanwhile, or another owner has it. */
  async #wantBack(ino: Ino, lock: LockChange): Promise<boolean> {
    if (!this.#owns(ino, lock)) return false
    try {
      await this.#askLock(ino, lock, false)
      return true
    } catch (error) {
      if (!isFsError(error, 'EAGAIN')) throw error
      this.#remember(ino, { ...lock, mode: 'none' })
      this.#parts.note(`${describe(ino, lock)} is lost: another mount has taken it`)
      return false
    }
  }

  #owns(ino: Ino, change: LockChange): boolean {
    return ownLocks(this.#held.get(ino) ?? [], change).length > 0
  }

  /** What the server has granted: among the locks of one session nothing is in the way then. */
  #remember(ino: Ino, change: LockChange): void {
    const outcome = applyLock(this.#held.get(ino) ?? [], change)
    if (!('locks' in outcome)) return
    if (outcome.locks.length > 0) this.#held.set(ino, outcome.locks)
    else this.#held.delete(ino)
    this.#watchWhileHolding()
  }

  /** A machine that slept does not always lose its connection, and may still have been given up. */
  #watchWhileHolding(): void {
    if (this.#held.size === 0) {
      clearInterval(this.#watch)
      this.#watch = undefined
    } else if (this.#watch === undefined) {
      this.#lookedAt = performance.now()
      this.#watch = setInterval(() => this.#look(), lookMs)
      this.#watch.unref()
    }
  }

  #look(): void {
    const now = performance.now()
    const hasSlept = now - this.#lookedAt > asleepMs
    this.#lookedAt = now
    if (hasSlept) void this.reassert().catch(() => undefined)
  }

  async #askHeld(): Promise<ReturnType<typeof decodeHeldLocks>> {
    return decodeHeldLocks(await this.#ask({ type: 'locks' }))
  }

  #askLock(
    ino: Ino,
    { kind, owner, start, end, mode, pid }: LockChange,
    wait: boolean,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const range = { kind, owner, start, end, mode, pid }
    return this.#ask({ type: 'lock', ino, ...range, wait: wait ? 1 : 0 }, signal)
  }

  #ask(question: SessionQuestion, signal?: AbortSignal): Promise<Uint8Array> {
    const { ask, sleep } = this.#parts
    return untilAnswered(() => {
      signal?.throwIfAborted()
      return ask(question, signal)
    }, sleep)
  }
}

function keyOf(
  ino: Ino,
  { kind, owner, start, end, mode }: Omit<LockChange, 'session' | 'pid'> & { mode: LockMode },
): string {
  return [ino, kind, owner, start, end, mode].join(' ')
}

function describe(ino: Ino, { kind, pid }: LockChange): string {
  return `the ${kind} lock of process ${pid} on inode ${ino}`
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
