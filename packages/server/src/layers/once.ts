import { createHash, randomUUID } from 'node:crypto'
import { CairnError } from '@cairn/protocol'
import type { Asker, Workspace } from '../workspaces/workspace.ts'

/**
 * Does something once for one idempotency key: the same key again gets the first answer again. `work` is given a key
 * that is the same each time, so that also what was cut off between doing and noting is not done twice. What fails is
 * not noted: a conflict may be resolved, and then the same request succeeds.
 */
export async function once<T>(
  workspace: Workspace,
  { actor, idempotencyKey }: Asker,
  what: string,
  work: (key: string) => Promise<T>,
): Promise<T> {
  if (idempotencyKey === undefined) return work(digest(randomUUID()))
  const { layers, info } = workspace
  const request = `${actor}:${idempotencyKey}`
  const known = await layers.findAnswer(info.id, request)
  if (known !== undefined) return readAnswer<T>(known, what)
  const answer = await work(digest(request))
  await layers.putAnswer(info.id, request, JSON.stringify({ what, answer }))
  // DURABLE: whoever asks again is told the same. Of two at once, the first to note is right for both.
  return readAnswer<T>((await layers.findAnswer(info.id, request))!, what)
}

function readAnswer<T>(text: string, what: string): T {
  const noted = JSON.parse(text) as { readonly what: string; readonly answer: T }
  if (noted.what === what) return noted.answer
  throw new CairnError('batch_mismatch', {
    message: `cannot ${what}: the Idempotency-Key was used for '${noted.what}'`,
  })
}

/** For ids and sessions that must be the same each time. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24)
}
