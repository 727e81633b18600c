import type { Readable } from 'node:stream'
import { CairnError } from '@cairn/protocol'

/** A request's body as it comes. */
export type Body = AsyncIterable<Uint8Array>

export interface BodyPace {
  /** So many bytes must come, or the end, each time the server has waited for so long. */
  readonly bytesMin: number
  readonly patienceMs: number
}

/** Slower than any line that a file should be sent over, and one connection for a minute at most. */
export const ordinaryPace: BodyPace = { bytesMin: 16 * 1024, patienceMs: 30_000 }

/**
 * A body that may be left unread without losing the connection, over which the answer has to go. Only waiting for
 * the sender counts: a slow store is not the sender's fault.
 */
export async function* paced(
  stream: Readable,
  { bytesMin, patienceMs }: BodyPace,
): AsyncGenerator<Uint8Array> {
  const chunks = stream.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]()
  let leftMs = patienceMs
  let bytes = 0
  for (;;) {
    const begin = performance.now()
    const result = await arrived(chunks, leftMs)
    if (result.done === true) return
    const chunk = result.value as Uint8Array
    leftMs -= performance.now() - begin
    bytes += chunk.length
    if (bytes >= bytesMin) {
      bytes = 0
      leftMs = patienceMs
    }
    yield chunk
  }
}

async function arrived(
  chunks: AsyncIterator<unknown>,
  patienceMs: number,
): Promise<IteratorResult<unknown>> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(tooSlow()), Math.max(0, patienceMs))
  try {
    return await Promise.race([chunks.next(), late.promise])
  } catch (error) {
    throw wasCut(error) ? cutOff(error) : error
  } finally {
    clearTimeout(timer)
  }
}

function wasCut(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code
  return code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE'
}

function cutOff(cause: unknown): CairnError {
  return new CairnError('malformed', { what: 'read the body', reason: 'it was cut off', cause })
}

function tooSlow(): CairnError {
  return new CairnError('too_slow', { what: 'read the body', reason: 'it stopped coming' })
}
