import { type IssuedKey, type KeyInfo, keyNamePattern } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import type { OwnerKeys } from '../../access/owner-keys.ts'
import { ownerOf } from '../context.ts'
import { objectSchema } from '../schema.ts'

const url = '/v1/keys'
// A client that removes or rotates its own key gets the answer all the same.
const config = { access: 'owner', watchesAccess: true } as const
const graceMsMax = 30 * 24 * 60 * 60 * 1000
const params = objectSchema({ key: { type: 'string', maxLength: 64 } }, ['key'])

interface KeyParams {
  readonly key: string
}

/** The keys of the owner who asks. */
export function keyRoutes(app: FastifyInstance, keys: OwnerKeys): void {
  app.get(
    url,
    { config, schema: { summary: 'List owner keys, those that were removed too' } },
    async (request): Promise<{ readonly items: readonly KeyInfo[] }> => ({
      items: await keys.list(ownerOf(request)),
    }),
  )

  app.delete<{ Params: KeyParams }>(
    `${url}/:key`,
    { config, schema: { summary: 'Remove an owner key, and end what goes on under it', params } },
    (request): Promise<KeyInfo> => keys.remove(ownerOf(request), request.params.key),
  )

  issueRoutes(app, keys)
}

function issueRoutes(app: FastifyInstance, keys: OwnerKeys): void {
  app.post<{ Body: { name: string } }>(
    url,
    {
      config,
      schema: {
        summary: 'Add an owner key; its secret is shown once',
        body: objectSchema({ name: { type: 'string', pattern: keyNamePattern } }, ['name']),
      },
    },
    async (request, reply): Promise<IssuedKey> => {
      void reply.code(201).header('cache-control', 'no-store')
      return keys.add(ownerOf(request), request.body.name)
    },
  )

  app.post<{ Params: KeyParams; Body: { graceMs?: number } }>(
    `${url}/:key/rotate`,
    {
      config,
      schema: {
        summary: 'Give an owner key another secret; the one before ends now or after graceMs',
        params,
        body: objectSchema({ graceMs: { type: 'integer', minimum: 0, maximum: graceMsMax } }),
      },
    },
    async (request, reply): Promise<IssuedKey> => {
      void reply.header('cache-control', 'no-store')
      const { graceMs = 0 } = request.body
      return keys.rotate(ownerOf(request), request.params.key, graceMs)
    },
  )
}
