import type { Op } from '@cairn/core'
import { now } from '../clock.ts'
import type { Spool } from '../data/spool.ts'
import type { SessionClient } from '../session/client.ts'
import type { Taken } from '../session/submissions.ts'
import type { Cause } from '../tool-calls/tool-calls.ts'
import { growthMax, type QuotaRoom } from './quota-room.ts'
import { type PutBlob, storeLarge } from './seal.ts'

export interface SubmitterParts {
  readonly session: Pick<SessionClient, 'submit' | 'lastNumber'>
  readonly spool: Spool
  readonly room: QuotaRoom
  readonly putBlob: PutBlob
  /** Once the image has taken in the log up to there. */
  readonly whenReached: (seq: number) => Promise<void>
}

/** Has the server decide about changes, and writes down what it was asked: should this process die, the next one knows. */
export class Submitter {
  readonly #parts: SubmitterParts

  constructor(parts: SubmitterParts) {
    this.#parts = parts
  }

  /** Counted from its place in the log on, as what is acknowledged is: the next change must not miss it. */
  async submit(op: Op, { request, toolCall }: Cause): Promise<Taken> {
    const { session, spool, room, putBlob } = this.#parts
    const ops = await storeLarge([op], putBlob)
    const number = session.lastNumber + 1
    spool.note({ type: 'intent', op, request, number })
    const submitted = session.submit(ops, now(), false, toolCall)
    for (const each of ops) room.take(number, growthMax(each))
    try {
      const receipt = await submitted
      spool.note({ type: 'taken', number })
      return receipt
    } catch (error) {
      room.drop(number)
      throw error
    }
  }

  /** An empty batch with a higher number: what an earlier process sent is in the log before it, or never will be. */
  async closeLog(): Promise<void> {
    const { seq } = await this.#parts.session.submit([], now())
    // Not until the kernel has been told: it may be waiting for this very answer.
    await this.#parts.whenReached(seq)
  }
}
