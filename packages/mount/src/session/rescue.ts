import {
  CairnError,
  isCairnError,
  parseRescueOutcome,
  type RescueOutcome,
  type SessionRequest,
} from '@cairn/protocol'
import type { SessionClock } from './options.ts'
import { untilAnswered } from './retry.ts'
import type { FullSubmission, PendingSubmission } from './submissions.ts'

/** How long to leave a server alone that could not take in a late write. */
const retryMs = 200

type RescueQuestion = Omit<Extract<SessionRequest, { type: 'rescue' }>, 'id'>

export interface Rescuer {
  readonly ask: (question: RescueQuestion) => Promise<Uint8Array>
  /** Lets a server that had no answer come to itself. */
  readonly pause: () => Promise<void>
}

/** Acknowledged, refused by the branch, and not yet in a rescue layer. */
export class LateWrites {
  readonly #late: FullSubmission[] = []
  readonly #rescuer: Rescuer
  #isRescuing = false

  constructor(ask: Rescuer['ask'], clock: SessionClock) {
    this.#rescuer = { ask, pause: () => clock.sleep(retryMs) }
  }

  get size(): number {
    return this.#late.length
  }

  /** The epoch of the lease under which the first of them was acknowledged. */
  get epoch(): number | undefined {
    return this.#late[0]?.leaseEpoch
  }

  get settled(): readonly Promise<unknown>[] {
    return this.#late.map(({ settled }) => settled.promise)
  }

  add(submission: PendingSubmission): void {
    this.#late.push({ ...submission, body: submission.body! })
  }

  /**
   * False where a rescue is under way already. Calls `onRescue` with the outcome before it settles
   * them.
   */
  async rescue(onRescue: (outcome: RescueOutcome) => void): Promise<boolean> {
    const { epoch } = this
    if (epoch === undefined || this.#isRescuing) return false
    this.#isRescuing = true
    const late = this.#late.filter(({ leaseEpoch }) => leaseEpoch === epoch)
    const why = await rescueAll(this.#rescuer, epoch, late).then(
      (outcome) => {
        onRescue(outcome)
        return new RescuedError(outcome)
      },
      (error: unknown) => error,
    )
    this.#isRescuing = false
    for (const submission of late) {
      this.#late.splice(this.#late.indexOf(submission), 1)
      submission.settled.reject(why)
    }
    return true
  }
}

/**
 * Brings what was acknowledged under a lost lease to a rescue layer: in order, each once, because the layer knows
 * the numbers. The last question asks for a commit; its answer says where everything went.
 */
export async function rescueAll(
  rescuer: Rescuer,
  epoch: number,
  late: readonly FullSubmission[],
): Promise<RescueOutcome> {
  const inOrder = [...late].sort((a, b) => a.number - b.number)
  for (const { number, body } of inOrder)
    await untilAnswered(() => rescuer.ask({ type: 'rescue', number, epoch, body }), rescuer.pause)
  const end = { type: 'rescue', number: 0, epoch, body: new Uint8Array() } as const
  const answer = await untilAnswered(() => rescuer.ask(end), rescuer.pause)
  return parseRescueOutcome(new TextDecoder().decode(answer))
}

/** Rejects a submission that went to a rescue layer. */
export class RescuedError extends CairnError {
  readonly outcome: RescueOutcome

  constructor(outcome: RescueOutcome) {
    const { result, layer } = outcome
    super('stale_epoch', {
      what: 'write to the branch as it was',
      reason: `${result === 'committed' ? 'committed from' : 'kept in'} layer ${layer}`,
      subject: layer,
    })
    this.outcome = outcome
  }
}

export function isRescued(error: unknown): error is CairnError {
  return isCairnError(error, 'stale_epoch')
}

/** Whether that is the id of a layer which the server made for late writes. */
export function isRescueLayer(id: string): boolean {
  return /\/rescue-[^/]+$/.test(id)
}

/** Rescued, and not on the branch: a user must decide. */
export function isKept(error: unknown): boolean {
  const isCommitted = error instanceof RescuedError && error.outcome.result === 'committed'
  return isRescued(error) && !isCommitted
}
