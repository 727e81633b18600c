/** So long may a program that has its answer not have run. */
const restMs = 2000

/**
 * Inodes that the kernel was told of a moment ago. It takes an answer to a lookup in when the program that asked runs
 * again. If it does not know the inode by then, it was told in vain that the inode has changed.
 */
export class NewlyTold {
  #now = new Set<number>()
  #before = new Set<number>()
  #sinceMs = 0

  add(nodeid: number): void {
    this.#turn()
    this.#now.add(nodeid)
  }

  has(nodeid: number): boolean {
    this.#turn()
    return this.#now.has(nodeid) || this.#before.has(nodeid)
  }

  #turn(): void {
    const ageMs = performance.now() - this.#sinceMs
    if (ageMs < restMs) return
    this.#before = ageMs < 2 * restMs ? this.#now : new Set()
    this.#now = new Set()
    this.#sinceMs += ageMs
  }
}
