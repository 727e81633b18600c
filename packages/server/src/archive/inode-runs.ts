import type { Time, View } from '@cairn/core'
import type { ImportedInodes, Ino } from '@cairn/protocol'
import { nanoseconds } from '../ports/clock.ts'

/** Beyond these the answer to an import would be larger than a listing. New files need few. */
const runsMax = 10_000

/**
 * Which inodes the entries of an archive became. Entries in a row mostly got numbers in a row at the same time, so runs of
 * them take little room.
 */
export class InodeRuns {
  readonly #runs: { first: Ino; count: number; ctime: Time }[] = []

  add(ino: Ino, ctime: Time): void {
    const last = this.#runs.at(-1)
    const { sec, nsec } = ctime
    const isSameTime = last?.ctime.sec === sec && last.ctime.nsec === nsec
    if (last && isSameTime && last.first + last.count === ino) last.count++
    else this.#runs.push({ first: ino, count: 1, ctime })
  }

  append(others: InodeRuns): void {
    this.#runs.push(...others.#runs)
  }

  /** Undefined where there are too many. */
  toJson(): ImportedInodes | undefined {
    if (this.#runs.length > runsMax) return undefined
    return this.#runs.map(({ first, count, ctime }) => ({
      first,
      count,
      ctimeNs: String(nanoseconds(ctime)),
    }))
  }
}

export function runsOf(inos: readonly Ino[], view: View): InodeRuns {
  const runs = new InodeRuns()
  for (const ino of inos) {
    const inode = view.inode(ino)
    // A later entry of the same archive may have replaced it.
    runs.add(ino, inode?.ctime ?? { sec: 0, nsec: 0 })
  }
  return runs
}
