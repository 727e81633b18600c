import type { Hash } from '@cairn/protocol'

/** Thrown by synchronous reads that meet nodes not in memory. Load them, then ask again. */
export class NodeMiss {
  readonly hashes: readonly Hash[]
  constructor(hashes: readonly Hash[]) {
    this.hashes = hashes
  }
}

/**
 * Takes many steps inside of one synchronous read. It goes on behind one that misses a node, to learn what the others
 * miss: a read that stopped there would begin anew for every node, and a thousand writes all over a tree of a million
 * files would take minutes. What is done after a miss is thrown away with the rest, so an error there says nothing.
 */
export function takeSteps<T>(items: Iterable<T>, step: (item: T) => void): void {
  const missed = new Set<Hash>()
  for (const item of items) {
    try {
      step(item)
    } catch (error) {
      if (error instanceof NodeMiss) for (const hash of error.hashes) missed.add(hash)
      else if (missed.size === 0) throw error
    }
  }
  if (missed.size > 0) throw new NodeMiss([...missed])
}
