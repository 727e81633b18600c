import { CairnError, type SecretValues, type VaultValue } from '@cairn/protocol'
import { vaultRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import { type VaultKeeper, valueBytesMax } from '../../vault/vault-keeper.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { openVault } from '../vault-context.ts'

/** Tokens are for files: a grant says who may read these. */
const config = { access: 'owner', takesGrants: true } as const

/** Secrets. Nothing of them may stay in a cache on the way. */
export function vaultRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  vault: VaultKeeper,
): void {
  readRoutes(app, workspaces, vault)
  listRoutes(app, workspaces, vault)
  writeRoutes(app, workspaces, vault)
}

function readRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper, vault: VaultKeeper): void {
  const add = adderOf(app, table)

  add(
    'GET /v1/workspaces/:workspace/vault/secrets/:secret',
    config,
    async (request, reply): Promise<SecretValues> => {
      const asker = await openVault(workspaces, request)
      const { secret: name } = request.params
      const { version, values } = await vault.read(asker, name, request.query)
      void reply.header('cache-control', 'no-store')
      const fields = [...values].map(([field, bytes]) => [field, spell(bytes)])
      return { name, version, fields: Object.fromEntries(fields) as SecretValues['fields'] }
    },
  )

  add(
    'GET /v1/workspaces/:workspace/vault/secrets/:secret/fields/:field',
    config,
    async (request, reply) => {
      const asker = await openVault(workspaces, request)
      const { secret, field } = request.params
      const { version, values } = await vault.read(asker, secret, { ...request.query, field })
      void reply.header('cache-control', 'no-store').header('cairn-version', version)
      return reply.type('application/octet-stream').send(Buffer.from(values.get(field)!))
    },
  )
}

function listRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper, vault: VaultKeeper): void {
  const add = adderOf(app, table)

  add('GET /v1/workspaces/:workspace/vault/secrets', config, async (request) => {
    const asker = await openVault(workspaces, request)
    return vault.list(asker, request.query.cursor ?? '', request.query.limit)
  })

  add('GET /v1/workspaces/:workspace/vault/secrets/:secret/history', config, async (request) => {
    const asker = await openVault(workspaces, request)
    return { items: await vault.history(asker, request.params.secret) }
  })
}

function writeRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper, vault: VaultKeeper): void {
  const add = adderOf(app, table)

  add('PUT /v1/workspaces/:workspace/vault/secrets/:secret', config, async (request) => {
    const asker = await openVault(workspaces, request)
    const { fields, ifVersion } = request.body
    const values = Object.entries(fields).map(
      ([field, each]) => [field, read(field, each)] as const,
    )
    return vault.replace(asker, request.params.secret, new Map(values), { ifVersion })
  })

  add('PATCH /v1/workspaces/:workspace/vault/secrets/:secret', config, async (request) => {
    const asker = await openVault(workspaces, request)
    const { fields, ifVersion } = request.body
    const edit = Object.entries(fields).map(
      ([field, each]) => [field, each === null ? null : read(field, each)] as const,
    )
    return vault.edit(asker, request.params.secret, new Map(edit), { ifVersion })
  })

  add('DELETE /v1/workspaces/:workspace/vault/secrets/:secret', config, async (request, reply) => {
    await vault.remove(await openVault(workspaces, request), request.params.secret)
    void reply.code(204)
  })
}

function spell(bytes: Uint8Array): VaultValue {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') }
  }
}

function read(field: string, each: VaultValue): Uint8Array {
  const bytes = 'text' in each ? Buffer.from(each.text) : Buffer.from(each.base64, 'base64')
  if (bytes.length <= valueBytesMax) return bytes
  throw new CairnError('too_large', {
    what: `keep the field ${field}`,
    reason: `it has more than ${valueBytesMax} bytes`,
    subject: field,
  })
}
