import { CairnError, type SecretValues, type VaultValue } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import { fieldsMax, type Vault, valueBytesMax } from '../../vault/vault.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { limitSchema, objectSchema, orNull, workspaceParams } from '../schema.ts'
import { openVault } from '../vault-context.ts'

const url = '/v1/workspaces/:workspace/vault/secrets'
/** Names of files in a mounted vault, and part of paths. */
const secretPattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'
const fieldPattern = '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$'

const value = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
  properties: { text: { type: 'string' }, base64: { type: 'string' } },
} as const
const fieldsOf = (of: object): object => ({
  type: 'object',
  propertyNames: { type: 'string', pattern: fieldPattern },
  maxProperties: fieldsMax,
  additionalProperties: of,
})
const versionSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const

function paramsOf(...names: ('secret' | 'field')[]): object {
  const patterns = { secret: secretPattern, field: fieldPattern }
  const properties = names.map((name) => [name, { type: 'string', pattern: patterns[name] }])
  return {
    type: 'object',
    required: ['workspace', ...names],
    properties: { ...workspaceParams.properties, ...Object.fromEntries(properties) },
  }
}

interface SecretParams {
  readonly workspace: string
  readonly secret: string
}

interface VersionQuery {
  readonly version?: number
}

interface WriteBody {
  readonly fields: Readonly<Record<string, VaultValue | null>>
  readonly ifVersion?: number
}

/** Tokens are for files: whoever may read these is in a grant. */
const config = { access: 'owner', takesGrants: true } as const

/** Secrets. Nothing of them may stay in a cache on the way. */
export function vaultRoutes(app: FastifyInstance, workspaces: Workspaces, vault: Vault): void {
  readRoutes(app, workspaces, vault)
  listRoutes(app, workspaces, vault)
  writeRoutes(app, workspaces, vault)
}

function readRoutes(app: FastifyInstance, workspaces: Workspaces, vault: Vault): void {
  app.get<{ Params: SecretParams; Querystring: VersionQuery }>(
    `${url}/:secret`,
    {
      config,
      schema: {
        summary: 'Read a secret: all fields that may be read',
        params: paramsOf('secret'),
        querystring: objectSchema({ version: versionSchema }),
      },
    },
    async (request, reply): Promise<SecretValues> => {
      const asker = await openVault(workspaces, request)
      const { secret: name } = request.params
      const { version, values } = await vault.read(asker, name, request.query)
      void reply.header('cache-control', 'no-store')
      const fields = [...values].map(([field, bytes]) => [field, spell(bytes)])
      return { name, version, fields: Object.fromEntries(fields) as SecretValues['fields'] }
    },
  )

  app.get<{ Params: SecretParams & { field: string }; Querystring: VersionQuery }>(
    `${url}/:secret/fields/:field`,
    {
      config,
      schema: {
        summary: 'Read one field of a secret: its bytes, as they are',
        params: paramsOf('secret', 'field'),
        querystring: objectSchema({ version: versionSchema }),
      },
    },
    async (request, reply) => {
      const asker = await openVault(workspaces, request)
      const { secret, field } = request.params
      const { version, values } = await vault.read(asker, secret, { ...request.query, field })
      void reply.header('cache-control', 'no-store').header('cairn-version', version)
      return reply.type('application/octet-stream').send(Buffer.from(values.get(field)!))
    },
  )
}

function listRoutes(app: FastifyInstance, workspaces: Workspaces, vault: Vault): void {
  app.get<{ Querystring: { cursor?: string; limit: number } }>(
    url,
    {
      config,
      schema: {
        summary: 'List secrets by name, without their values',
        params: workspaceParams,
        querystring: objectSchema({
          cursor: { type: 'string', maxLength: 128 },
          limit: limitSchema,
        }),
      },
    },
    async (request) => {
      const asker = await openVault(workspaces, request)
      return vault.list(asker, request.query.cursor ?? '', request.query.limit)
    },
  )

  app.get<{ Params: SecretParams }>(
    `${url}/:secret/history`,
    {
      config,
      schema: { summary: 'The versions of a secret, newest first', params: paramsOf('secret') },
    },
    async (request) => {
      const asker = await openVault(workspaces, request)
      return { items: await vault.history(asker, request.params.secret) }
    },
  )
}

function writeRoutes(app: FastifyInstance, workspaces: Workspaces, vault: Vault): void {
  app.put<{ Params: SecretParams; Body: WriteBody }>(
    `${url}/:secret`,
    {
      config,
      schema: {
        summary: 'Replace a secret as a whole, or make it',
        params: paramsOf('secret'),
        body: objectSchema({ fields: fieldsOf(value), ifVersion: versionSchema }, ['fields']),
      },
    },
    async (request) => {
      const asker = await openVault(workspaces, request)
      const { fields, ifVersion } = request.body
      const values = Object.entries(fields).map(([field, each]) => [field, read(field, each!)])
      const map = new Map(values as [string, Uint8Array][])
      return vault.replace(asker, request.params.secret, map, { ifVersion })
    },
  )

  app.patch<{ Params: SecretParams; Body: WriteBody }>(
    `${url}/:secret`,
    {
      config,
      schema: {
        summary: 'Set some fields of a secret, take away those that are null, keep the others',
        params: paramsOf('secret'),
        body: objectSchema({ fields: fieldsOf(orNull(value)), ifVersion: versionSchema }, [
          'fields',
        ]),
      },
    },
    async (request) => {
      const asker = await openVault(workspaces, request)
      const { fields, ifVersion } = request.body
      const edit = Object.entries(fields).map(
        ([field, each]) => [field, each === null ? null : read(field, each)] as const,
      )
      return vault.edit(asker, request.params.secret, new Map(edit), { ifVersion })
    },
  )

  app.delete<{ Params: SecretParams }>(
    `${url}/:secret`,
    {
      config,
      schema: { summary: 'Take a secret away, with all its versions', params: paramsOf('secret') },
    },
    async (request, reply) => {
      await vault.remove(await openVault(workspaces, request), request.params.secret)
      void reply.code(204)
    },
  )
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
