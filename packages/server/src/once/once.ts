import { createHash, randomUUID } from 'node:crypto'
import { type ActorId, CairnError } from '@cairn/protocol'
import type { LayerStore } from '../ports/layer-store.ts'

/**
 * Exactly once is the log's work: it accepts each (session, number) once, and the session of a request with a key is
 * made of the key. So a repetition meets the batch of the first try, on any server and after any crash. This folder has
 * the two notes beside the log. An answer is kept for the repetition: in the row of the batch, or, where a request is more
 * than one batch, in a row of its own that is written after the work. And what a commit takes is kept before it begins
 * (`commit-points.ts`), because its number in the log depends on it.
 */

/** What a request says of itself. */
export interface Keyed {
  readonly actor: ActorId
  /** The same key again is the same request again. */
  readonly idempotencyKey: string | undefined
  /** Tells what is asked under the key from anything else. Called once all of it is known. */
  readonly print?: (() => string) | undefined
}

/** Where the notes of a workspace are. */
export interface NotePlace {
  readonly layers: Pick<LayerStore, 'findAnswer' | 'putAnswer'>
  readonly info: { readonly id: string }
}

/**
 * Does something once for one idempotency key: the same key again gets the first answer again, and is refused where
 * something else is asked. `work` is given a key that is the same each time, so that also what was cut off between doing
 * and noting is not done twice. What fails is not noted: a conflict may be resolved, and then the same request succeeds.
 */
export async function once<T>(
  { layers, info }: NotePlace,
  { actor, idempotencyKey }: Keyed,
  { what, ...asked }: Asked,
  work: (key: string) => Promise<T>,
): Promise<T> {
  if (idempotencyKey === undefined) return work(digest(randomUUID()))
  const request = `${actor}:${idempotencyKey}`
  const wanted = { what, asked: digest(JSON.stringify(asked)) }
  const known = await layers.findAnswer(info.id, request)
  if (known !== undefined) return readAnswer<T>(known, wanted)
  const answer = await work(digest(request))
  await layers.putAnswer(info.id, request, JSON.stringify({ ...wanted, answer }))
  // DURABLE: a repetition gets the same answer. When two run at once, the first to record is right
  // for both.
  return readAnswer<T>((await layers.findAnswer(info.id, request))!, wanted)
}

/** What a request is about; a repetition spells it the same. */
export interface Asked {
  /** As in "cannot commit". */
  readonly what: string
  readonly layer?: string
  readonly options?: object
}

interface Noted {
  readonly what: string
  /** Older notes are without. */
  readonly asked?: string
}

function readAnswer<T>(text: string, { what, asked }: Required<Noted>): T {
  const noted = JSON.parse(text) as Noted & { readonly answer: T }
  const isSame = noted.what === what && (noted.asked ?? asked) === asked
  if (isSame) return noted.answer
  const other = noted.what === what ? 'another layer or other options' : `'${noted.what}'`
  throw new CairnError('idempotency_mismatch', {
    what,
    reason: `the Idempotency-Key was used for ${other}`,
  })
}

/** What the row of a change notes, to answer a repetition with. */
export function noteAnswer({ print }: Keyed, result: unknown): string {
  return JSON.stringify([print?.() ?? null, result ?? null])
}

/** Older servers noted the result alone. */
export function readNoted<T>(text: string, { print }: Keyed): T | undefined {
  const noted = JSON.parse(text) as T | readonly [print: string | null, result: T | null]
  if (!Array.isArray(noted)) return noted as T
  const [before, result] = noted as [string | null, T | null]
  if (print === undefined || before === null || before === print()) return result ?? undefined
  throw new CairnError('idempotency_mismatch', {
    what: 'change files',
    reason: 'the Idempotency-Key was used for another request',
  })
}

/** For ids and sessions that must be the same each time. */
export function digest(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24)
}
