import { encodeBody } from '@cairn/core'
import { type FailureFields, fromFailure } from '@cairn/protocol'
import type { LateWrites } from './rescue.ts'
import type { PendingSubmission, Submissions, Taken } from './submissions.ts'

interface RefusalsParts {
  readonly pending: Submissions
  readonly late: LateWrites
  readonly epoch: () => number
  /** The epoch is over. */
  readonly leaveEpoch: () => void
  /** Something that was in doubt has an answer. */
  readonly onSettled: () => void
  readonly onRefused: (why: Error) => void
}

/** What becomes of submissions that the server refuses. */
export class Refusals {
  readonly #parts: RefusalsParts

  constructor(parts: RefusalsParts) {
    this.#parts = parts
  }

  take(number: number, failure: FailureFields): void {
    const { pending } = this.#parts
    const { code } = failure
    const submission = pending.get(number)
    if (!submission) return
    if (code === 'stale_epoch') this.#takeStale(submission)
    else if (code === 'batch_passed_over') this.#takePassedOver(submission)
    else if (pending.isAstray(number)) this.#doubt(number, fromFailure(failure))
    else this.#refuse(submission, fromFailure(failure))
  }

  /** For good. What was acknowledged is done for programs: it may fit elsewhere. */
  #refuse(submission: PendingSubmission | undefined, why: Error): void {
    const { pending, onRefused } = this.#parts
    if (!submission) return
    if (submission.leaseEpoch === undefined) {
      pending.take(submission.number)
      return submission.settled.reject(why)
    }
    this.#tooLate(submission)
    onRefused(why)
  }

  /** What was not acknowledged is sent again in the next epoch, as soon as this session knows of it. */
  #takeStale(submission: PendingSubmission): void {
    const { pending, epoch, leaveEpoch } = this.#parts
    if (pending.sentIn(submission.number) === epoch()) leaveEpoch()
    if (submission.leaseEpoch !== undefined) return this.#tooLate(submission)
    pending.sendAgain(submission.number)
  }

  /** Never in the log under its number: because of the refusal we know of, or of one whose answer was lost. */
  #takePassedOver(submission: PendingSubmission): void {
    const { pending } = this.#parts
    const { number, body, leaseEpoch, settled, doubt } = submission
    if (leaseEpoch !== undefined) return this.#tooLate(submission)
    pending.take(number)
    if (doubt) settled.reject(doubt)
    else pending.add({ body, leaseEpoch, settled })
  }

  #tooLate(submission: PendingSubmission): void {
    const { pending, late } = this.#parts
    pending.take(submission.number)
    late.add(submission)
  }

  /**
   * A copy of it that was sent over a broken connection may reach the log later and be taken. An empty batch with a
   * higher number closes the log to it; asked once more after that, the server says for certain.
   */
  #doubt(number: number, error: Error): void {
    const { pending, onSettled } = this.#parts
    pending.holdInDoubt(number, error)
    const settled = Promise.withResolvers<Taken>()
    const body = encodeBody({ type: 'ops', ops: [] }, { sec: 0, nsec: 0 })
    pending.add({ body, leaseEpoch: undefined, settled, closes: true })
    void settled.promise
      .then(
        () => pending.sendAgain(number),
        // The log takes nothing at all: not that copy either.
        () => this.#refuse(pending.get(number), error),
      )
      .then(onSettled)
  }
}
