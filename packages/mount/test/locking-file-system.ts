import { FsError } from '@cairn/protocol'
import type { Answer, Lock } from '../src/fuse/file-system.ts'
import { MemoryFileSystem } from './memory-file-system.ts'

interface Held extends Lock {
  readonly nodeid: number
  readonly flock: boolean
}

/** Locks of whole files or ranges, without splitting: what is unlocked is what was locked, or everything. */
export class LockingFileSystem extends MemoryFileSystem {
  held: readonly Held[] = []
  waiting = 0
  #changed = Promise.withResolvers<void>()

  getlk(nodeid: number, lock: Lock): Lock {
    return this.#find(nodeid, lock, false) ?? { ...lock, type: 'none' }
  }

  setlk(
    nodeid: number,
    lock: Lock,
    wait: boolean,
    flock: boolean,
    signal: AbortSignal,
  ): Answer<void> {
    if (this.#find(nodeid, lock, flock) === undefined) return this.#set(nodeid, lock, flock)
    if (!wait) throw new FsError('EAGAIN')
    return this.#wait(nodeid, lock, flock, signal)
  }

  async #wait(nodeid: number, lock: Lock, flock: boolean, signal: AbortSignal): Promise<void> {
    this.waiting++
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve()),
    )
    while (!signal.aborted && this.#find(nodeid, lock, flock) !== undefined)
      await Promise.race([this.#changed.promise, aborted])
    this.waiting--
    if (signal.aborted) throw new FsError('EINTR')
    this.#set(nodeid, lock, flock)
  }

  #find(nodeid: number, lock: Lock, flock: boolean): Held | undefined {
    if (lock.type === 'none') return undefined
    return this.held.find(
      (held) =>
        held.nodeid === nodeid &&
        held.flock === flock &&
        held.owner !== lock.owner &&
        held.start <= lock.end &&
        held.end >= lock.start &&
        (held.type === 'write' || lock.type === 'write'),
    )
  }

  #set(nodeid: number, lock: Lock, flock: boolean): void {
    this.held = this.held.filter(
      (held) =>
        held.nodeid !== nodeid ||
        held.flock !== flock ||
        held.owner !== lock.owner ||
        held.start < lock.start ||
        held.end > lock.end,
    )
    if (lock.type !== 'none') this.held = [...this.held, { ...lock, nodeid, flock }]
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
