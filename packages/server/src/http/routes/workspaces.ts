import type { FastifyInstance } from 'fastify'
import { seesAll } from '@cairn/protocol'
import { requireUnbound, requireWhole } from '../../access/layers.ts'
import type { SettingsEdit } from '../../layers/quotas.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { openWorkspace, ownerOf, scopeOf } from '../context.ts'
import { limitSchema, objectSchema, quotaEditSchema, workspaceParams } from '../schema.ts'

export function workspaceRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  collectionRoutes(app, workspaces)
  workspaceRoute(app, workspaces)
}

function collectionRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  app.post<{ Body: { name: string } }>(
    '/v1/workspaces',
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Make a workspace',
        body: objectSchema(
          { name: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' } },
          ['name'],
        ),
      },
    },
    async (request, reply) => {
      void reply.code(201)
      return workspaces.create(ownerOf(request), request.body.name)
    },
  )

  app.get<{ Querystring: { cursor?: string; limit: number } }>(
    '/v1/workspaces',
    {
      config: { access: 'workspace' },
      schema: {
        summary: 'List workspaces',
        querystring: objectSchema({ cursor: { type: 'string' }, limit: limitSchema }),
      },
    },
    async (request) => {
      const [owner, scope] = [ownerOf(request), scopeOf(request)]
      if (!scope) return workspaces.list(owner, request.query.cursor, request.query.limit)
      const { info } = await workspaces.open(owner, scope.workspace)
      return { items: request.query.cursor === undefined ? [info] : [] }
    },
  )
}

function workspaceRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.get<{ Params: { workspace: string } }>(
    '/v1/workspaces/:workspace',
    {
      config: { access: 'workspace' },
      schema: { summary: 'Look a workspace up by name or id', params: workspaceParams },
    },
    async (request) => {
      const { info } = await openWorkspace(workspaces, request)
      const scope = scopeOf(request)
      // How much there is in all is not for whoever sees a part.
      if (scope && !seesAll(scope.grant)) return info
      return workspaces.describe(ownerOf(request), info.id)
    },
  )

  app.patch<{ Params: { workspace: string }; Body: SettingsEdit }>(
    '/v1/workspaces/:workspace',
    {
      config: { access: ['admin'] },
      schema: {
        summary: 'Limit how much a workspace may hold',
        params: workspaceParams,
        body: objectSchema(quotaEditSchema),
      },
    },
    async (request) => {
      const { info } = await openWorkspace(workspaces, request)
      const scope = scopeOf(request)
      if (scope) {
        requireUnbound(scope)
        requireWhole(scope, 'admin', '/')
      }
      return workspaces.setQuota(ownerOf(request), info.id, request.body)
    },
  )

  app.delete<{ Params: { workspace: string } }>(
    '/v1/workspaces/:workspace',
    {
      config: { access: 'owner' },
      schema: { summary: 'Take a workspace away', params: workspaceParams },
    },
    async (request, reply) => {
      await workspaces.remove(ownerOf(request), request.params.workspace)
      void reply.code(204)
    },
  )
}
