import { vaultOutcomes, vaultPermissions } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import type { AuditFilter, VaultAuditTable } from '../../storage/vault-audit-table.ts'
import type { GrantWish, VaultGrants } from '../../vault/grants.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { ownerOf } from '../context.ts'
import { limitSchema, objectSchema, workspaceParams } from '../schema.ts'
import { spanOfQuery } from '../time-query.ts'
import { openVault } from '../vault-context.ts'

const url = '/v1/workspaces/:workspace/vault'
const text = { type: 'string', minLength: 1, maxLength: 256 } as const
/** A name, or the beginning of one and a star. */
const pattern = { type: 'string', pattern: '^(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}\\*?|\\*)$' }
const time = { type: 'string', maxLength: 64, description: 'ISO 8601' } as const
const yearMs = 366 * 24 * 60 * 60 * 1000

interface AuditQuery extends Omit<AuditFilter, 'before'> {
  readonly cursor?: number
  readonly limit: number
}

/** Who may use the vault, and who did. For owners: a grant makes no grants. */
export function vaultGrantRoutes(
  app: FastifyInstance,
  workspaces: Workspaces,
  grants: VaultGrants,
  audit: VaultAuditTable,
): void {
  issueRoute(app, workspaces, grants)
  grantRoutes(app, workspaces, grants)
  auditRoute(app, workspaces, audit)
}

function issueRoute(app: FastifyInstance, workspaces: Workspaces, grants: VaultGrants): void {
  app.post<{ Body: GrantWish }>(
    `${url}/grants`,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Let an agent read or write secrets for a while; the token is told this once',
        params: workspaceParams,
        body: objectSchema(
          {
            agent: text,
            scopes: {
              type: 'array',
              minItems: 1,
              maxItems: 64,
              items: objectSchema({ secret: pattern, field: pattern }, ['secret']),
            },
            permissions: {
              type: 'array',
              minItems: 1,
              uniqueItems: true,
              items: { enum: vaultPermissions },
            },
            ttlMs: { type: 'integer', minimum: 1, maximum: yearMs },
          },
          ['agent', 'scopes', 'permissions', 'ttlMs'],
        ),
      },
    },
    async (request, reply) => {
      const asker = await openVault(workspaces, request)
      void reply.code(201).header('cache-control', 'no-store')
      return grants.issue(asker, ownerOf(request), request.body)
    },
  )
}

function grantRoutes(app: FastifyInstance, workspaces: Workspaces, grants: VaultGrants): void {
  app.get<{ Querystring: { cursor?: string; limit: number } }>(
    `${url}/grants`,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'List grants, those that are over too',
        params: workspaceParams,
        querystring: objectSchema({ cursor: text, limit: limitSchema }),
      },
    },
    async (request) => {
      const { workspace } = await openVault(workspaces, request)
      return grants.list(workspace, request.query.cursor ?? '', request.query.limit)
    },
  )

  app.delete<{ Params: { workspace: string; grant: string } }>(
    `${url}/grants/:grant`,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Revoke a grant, at once',
        params: {
          type: 'object',
          required: ['workspace', 'grant'],
          properties: { ...workspaceParams.properties, grant: text },
        },
      },
    },
    async (request) => grants.revoke(await openVault(workspaces, request), request.params.grant),
  )
}

function auditRoute(app: FastifyInstance, workspaces: Workspaces, audit: VaultAuditTable): void {
  app.get<{ Querystring: AuditQuery }>(
    `${url}/audit`,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Who read, wrote or was refused what, newest first',
        params: workspaceParams,
        querystring: objectSchema({
          secret: text,
          agent: text,
          actor: text,
          outcome: { enum: vaultOutcomes },
          since: time,
          until: time,
          cursor: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
          limit: limitSchema,
        }),
      },
    },
    async (request) => {
      const { workspace } = await openVault(workspaces, request)
      const { cursor, limit, ...filter } = request.query
      const before = cursor === undefined ? {} : { before: cursor }
      const items = await audit.list(
        workspace,
        { ...filter, ...spanOfQuery(filter), ...before },
        limit,
      )
      return items.length === limit ? { items, next: String(items.at(-1)!.id) } : { items }
    },
  )
}
