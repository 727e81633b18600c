import { CairnError, errorTable, isCairnError, type SessionRequest } from '@cairn/protocol'
import type { FullSubmission } from './submissions.ts'

type RescueQuestion = Omit<Extract<SessionRequest, { type: 'rescue' }>, 'id'>

export interface Rescuer {
  readonly ask: (question: RescueQuestion) => Promise<Uint8Array>
  /** Lets a server that had no answer come to itself. */
  readonly pause: () => Promise<void>
}

/**
 * Brings what was acknowledged under a lost lease to a rescue layer: in order, each once, because the layer knows
 * the numbers. The last question asks for a commit; its answer says where everything went.
 */
export async function rescueAll(
  rescuer: Rescuer,
  epoch: number,
  late: readonly FullSubmission[],
): Promise<string> {
  const inOrder = [...late].sort((a, b) => a.number - b.number)
  for (const { number, body } of inOrder)
    await askUntilAnswered(rescuer, { type: 'rescue', number, epoch, body })
  const end = { type: 'rescue', number: 0, epoch, body: new Uint8Array() } as const
  return new TextDecoder().decode(await askUntilAnswered(rescuer, end))
}

/** What was acknowledged is worth asking for as long as it may help. */
async function askUntilAnswered(rescuer: Rescuer, question: RescueQuestion): Promise<Uint8Array> {
  for (;;) {
    try {
      return await rescuer.ask(question)
    } catch (error) {
      if (!isCairnError(error) || errorTable[error.code].retry === 'never') throw error
      await rescuer.pause()
    }
  }
}

export function rescuedError(where: string): CairnError {
  return new CairnError('stale_epoch', { message: `cannot write under a lost lease: ${where}` })
}
