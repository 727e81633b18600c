import { encodeRecord } from '../data/spool-record.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { SessionClient } from '../session/client.ts'
import type { LogPosition } from '../image/log-position.ts'

/** How often at most: after a crash, so much is looked at again. */
const pauseMs = 50

/** Notes how far the log was taken in, for a process that comes after. Where nothing happens nothing is done. */
export class ProgressNotes {
  readonly #position: Pick<LogPosition, 'settledSeq' | 'whenSettled'>
  readonly #append: () => unknown
  #notedSeq = -1

  /** With how to append a note to the spool, which throws when the disk is full. */
  constructor(position: Pick<LogPosition, 'settledSeq' | 'whenSettled'>, append: () => unknown) {
    this.#position = position
    this.#append = append
  }

  note(): void {
    const { settledSeq } = this.#position
    if (settledSeq <= this.#notedSeq) return
    this.#notedSeq = settledSeq
    try {
      this.#append()
    } catch {
      // A full disk: a restart looks at more of the log again.
    }
  }

  async keepNoting(): Promise<void> {
    while (this.#notedSeq < Infinity) {
      await this.#position.whenSettled(this.#notedSeq + 1)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      this.note()
    }
  }

  /** Nothing is noted any more. */
  end(): void {
    this.#notedSeq = Infinity
  }
}

/** How far everything has come, for the process that comes after this one. */
export function describeProgress(
  { lastNumber, pendingCount }: Pick<SessionClient, 'lastNumber' | 'pendingCount'>,
  outbox: Pick<Outbox, 'pendingOps' | 'settled' | 'deferrals'>,
  { settledSeq: seq }: Pick<LogPosition, 'settledSeq'>,
): Uint8Array[] {
  // Only the session knows the numbers that the outbox never had.
  const isAtRest = pendingCount === 0 && outbox.pendingOps === 0
  const settled = isAtRest ? lastNumber : outbox.settled
  const hasDeferred = outbox.deferrals.ops > 0
  return encodeRecord({ type: 'progress', settled, lastNumber, seq, hasDeferred })
}
