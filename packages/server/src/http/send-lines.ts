import { Readable } from 'node:stream'
import { isCairnError } from '@cairn/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toHttpError } from './errors.ts'

/** Answers with lines of JSON, as they are made. */
export function sendLines(
  reply: FastifyReply,
  request: FastifyRequest,
  lines: AsyncIterable<string>,
): FastifyReply {
  void reply.type('application/x-ndjson')
  return reply.send(Readable.from(withFailure(lines, request.id)))
}

/** The status has been sent when a search fails: the last line says so, where a summary would be. */
async function* withFailure(
  lines: AsyncIterable<string>,
  requestId: string,
): AsyncGenerator<string> {
  try {
    yield* lines
  } catch (error) {
    if (!isCairnError(error)) throw error
    const { body } = toHttpError(error, requestId)
    yield `${JSON.stringify({ type: 'error', data: body })}\n`
  }
}
