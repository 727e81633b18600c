import { CairnError } from '@cairn/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Places } from '../access/places.ts'
import { addressOf } from './relayed.ts'

/** Takes a place for a request that costs much, or refuses it. Gives what frees the place again. */
export function takePlace(
  places: Places,
  request: FastifyRequest,
  reply: FastifyReply,
  what: string,
): () => void {
  const leave = places.take(request.access!, addressOf(request))
  if (typeof leave !== 'string') return leave
  void reply.header('retry-after', '1')
  throw new CairnError('too_many_requests', { what, reason: leave })
}
