import { CairnError, isToolCall } from '@cairn/protocol'
import type { FastifyRequest } from 'fastify'

/** The call of an agent's tool that a request belongs to, where the agent says so. */
export function toolCallOf({ headers }: FastifyRequest): string | undefined {
  const text = headers['x-cairn-tool-call']
  if (text === undefined) return undefined
  if (isToolCall(text)) return text
  throw new CairnError('invalid_argument', {
    what: 'take X-Cairn-Tool-Call',
    reason: 'want 1 to 256 visible ASCII characters',
  })
}
