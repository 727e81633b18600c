import { createHash } from 'node:crypto'
import { type ActorId, CairnError } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'

/** A key that may be used now. */
export interface KnownKey {
  readonly id: string
  readonly owner: string
}

/** Looks a key up by the hash of its secret; the secret itself is stored nowhere. */
export type FindKey = (secretHash: Uint8Array) => Promise<KnownKey | undefined>

const open = new Set(['/healthz', '/readyz', '/metrics', '/v1/openapi.json'])

/**
 * Every other route needs a key. Comparing happens between hashes inside the database's index, so how long it
 * takes tells nothing about the secret.
 */
export function requireKeys(app: FastifyInstance, findKey: FindKey): void {
  app.decorateRequest('actor', undefined)
  app.decorateRequest('owner', undefined)
  app.addHook('onRequest', async (request) => {
    if (open.has(request.routeOptions.url ?? '')) return
    const secret = /^Bearer ([\x21-\x7e]{8,512})$/.exec(request.headers.authorization ?? '')?.[1]
    const key = secret === undefined ? undefined : await findKey(hashSecret(secret))
    if (!key) throw new CairnError('unauthenticated', { message: 'cannot tell who asks' })
    request.actor = key.id as ActorId
    request.owner = key.owner
  })
}

export function hashSecret(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest()
}
