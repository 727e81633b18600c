import { keyRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import type { OwnerKeys } from '../../access/owner-keys.ts'
import { adderOf } from '../add-routes.ts'
import { ownerOf } from '../context.ts'

// A client that removes or rotates its own key gets the answer all the same.
const config = { access: 'owner', watchesAccess: true } as const

/** The keys of the owner who asks. */
export function keyRoutes(app: FastifyInstance, keys: OwnerKeys): void {
  const add = adderOf(app, table)

  add('GET /v1/keys', config, async (request) => ({ items: await keys.list(ownerOf(request)) }))

  add('POST /v1/keys', config, async (request, reply) => {
    void reply.code(201).header('cache-control', 'no-store')
    return keys.add(ownerOf(request), request.body.name)
  })

  add('POST /v1/keys/:key/rotate', config, async (request, reply) => {
    void reply.header('cache-control', 'no-store')
    const { graceMs = 0 } = request.body
    return keys.rotate(ownerOf(request), request.params.key, graceMs)
  })

  add('DELETE /v1/keys/:key', config, (request) =>
    keys.remove(ownerOf(request), request.params.key),
  )
}
