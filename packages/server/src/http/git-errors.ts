import type { FastifyReply, FastifyRequest } from 'fastify'
import { toHttpError } from './errors.ts'

/** Git shows its user the text of an answer that failed, if it is plain text. Other clients get JSON, as everywhere. */
export function answerGitError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!request.headers['user-agent']?.startsWith('git/')) throw error
  const { status, body } = toHttpError(error, request.id, 'use the git remote')
  if (status >= 500) request.log.error(error)
  const { message, hint } = body.error
  const lines = [message, hint, `Request ${request.id}`]
  void reply
    .code(status)
    .type('text/plain')
    .send(`${lines.filter(Boolean).join('\n')}\n`)
}
