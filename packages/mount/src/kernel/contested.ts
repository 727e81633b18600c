import type { Op } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import type { Caches } from './caches.ts'

/** After the last change of this mount that the server decided. */
const contestedMs = 10_000

interface ContestedParts {
  readonly toldNames: (ino: Ino) => Iterable<{ readonly name: Name }>
  readonly caches: Pick<Caches, 'expire'>
  readonly nowMs: () => number
}

/**
 * Directories in which this mount changes names beside other clients. The kernel holds a lock on a directory until a
 * change in it is answered, and forgets no name there meanwhile. Another mount that changes the directory at the same
 * moment does not wait for that, because each would wait for the other (`Follower.whileShown`). So the kernel is told to
 * ask for each name of such a directory whenever it is used.
 */
export class Contested {
  readonly #parts: ContestedParts
  readonly #untilMs = new Map<Ino, number>()

  constructor(parts: ContestedParts) {
    this.#parts = parts
  }

  /** The server decides about that operation. */
  note(op: Op): void {
    if ('parent' in op) this.#note(op.parent)
    if ('newParent' in op) this.#note(op.newParent)
  }

  has(directory: Ino | undefined): boolean {
    if (this.#untilMs.size === 0 || directory === undefined) return false
    return (this.#untilMs.get(directory) ?? 0) > this.#parts.nowMs()
  }

  #note(directory: Ino): void {
    const { toldNames, caches, nowMs } = this.#parts
    const now = nowMs()
    if (!this.has(directory))
      for (const { name } of toldNames(directory)) caches.expire(directory, name)
    this.#untilMs.delete(directory)
    this.#untilMs.set(directory, now + contestedMs)
    for (const [oldest, untilMs] of this.#untilMs) {
      if (untilMs > now) return
      this.#untilMs.delete(oldest)
    }
  }
}
