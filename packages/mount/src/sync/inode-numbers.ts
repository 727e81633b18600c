import { decodeInodesAnswer } from '../session/answers.ts'
import type { SessionClient } from '../session/client.ts'
import type { Ino } from '@cairn/protocol'

/** Asks the server for unused numbers. */
export type TakeInodes = () => Promise<{ readonly first: number; readonly count: number }>

/** Below this the next range is fetched, so that creating files never waits for it. */
const refillAt = 4000

/** Numbers for new files. */
export class InodeNumbers {
  readonly #take: TakeInodes
  readonly #ranges: { next: number; readonly end: number }[] = []
  #left = 0
  #taking: Promise<void> | undefined

  constructor(take: TakeInodes) {
    this.#take = take
  }

  /** Undefined when there is none: wait for `refill`. */
  next(): Ino | undefined {
    const [range] = this.#ranges
    if (!range) return undefined
    const ino = range.next++
    if (range.next === range.end) this.#ranges.shift()
    if (--this.#left < refillAt) this.refill().catch(() => undefined)
    return ino as Ino
  }

  refill(): Promise<void> {
    this.#taking ??= this.#take()
      .then(({ first, count }) => {
        this.#ranges.push({ next: first, end: first + count })
        this.#left += count
      })
      .finally(() => (this.#taking = undefined))
    return this.#taking
  }
}

const inodesAtOnce = 20_000

export function inodeNumbersAt(session: Pick<SessionClient, 'ask'>): InodeNumbers {
  return new InodeNumbers(async () =>
    decodeInodesAnswer(await session.ask({ type: 'inodes', count: inodesAtOnce })),
  )
}
