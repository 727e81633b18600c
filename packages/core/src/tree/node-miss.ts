import type { Hash } from '@cairn/protocol'

/** Thrown by synchronous reads that meet nodes not in memory. Load them, then ask again. */
export class NodeMiss {
  readonly hashes: readonly Hash[]
  constructor(hashes: readonly Hash[]) {
    this.hashes = hashes
  }
}

/**
 * Collects what the steps of one read miss. The read goes on after a step that misses a node, to learn what the other
 * steps miss: a read that stopped there would begin anew for every node, and a thousand writes all over a tree of a
 * million files would take minutes. What is done after a miss is thrown away with the rest, so an error there says
 * nothing.
 */
export class Misses {
  readonly #hashes = new Set<Hash>()

  /** Takes what a step threw. Throws it again if it is an error that says something. */
  note(error: unknown): void {
    if (error instanceof NodeMiss) for (const hash of error.hashes) this.#hashes.add(hash)
    else if (this.#hashes.size === 0) throw error
  }

  /** Throws NodeMiss if anything was missed. */
  end(): void {
    if (this.#hashes.size > 0) throw new NodeMiss([...this.#hashes])
  }
}
