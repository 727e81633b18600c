import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CairnError, seesAll } from '@cairn/protocol'
import { requireUnbound, requireWhole } from '../../layers/scoped-layers.ts'
import type { SettingsEdit } from '../../workspaces/quotas.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { openWorkspace, ownerOf, scopeOf } from '../context.ts'
import {
  flagSchema,
  isOn,
  limitSchema,
  objectSchema,
  quotaEditSchema,
  workspaceParams,
} from '../schema.ts'

const nameSchema = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' } as const

export function workspaceRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  collectionRoutes(app, workspaces)
  workspaceRoute(app, workspaces)
  deletionRoutes(app, workspaces)
}

function collectionRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  app.post<{ Body: { name: string } }>(
    '/v1/workspaces',
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Make a workspace',
        body: objectSchema({ name: nameSchema }, ['name']),
      },
    },
    async (request, reply) => {
      void reply.code(201)
      return workspaces.create(ownerOf(request), request.body.name)
    },
  )

  app.get<{ Querystring: { cursor?: string; limit: number; deleted?: string } }>(
    '/v1/workspaces',
    {
      config: { access: 'workspace' },
      schema: {
        summary: 'List workspaces, or those that were deleted and can be restored',
        querystring: objectSchema({
          cursor: { type: 'string' },
          limit: limitSchema,
          deleted: flagSchema,
        }),
      },
    },
    async (request) => {
      const [owner, scope] = [ownerOf(request), scopeOf(request)]
      const { cursor, limit, deleted } = request.query
      if (isOn(deleted)) {
        requireOwner(request, 'list deleted workspaces')
        return workspaces.listDeleted(owner, cursor, limit)
      }
      if (!scope) return workspaces.list(owner, cursor, limit)
      const { info } = await workspaces.open(owner, scope.workspace)
      return { items: cursor === undefined ? [info] : [] }
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

  app.patch<{ Params: { workspace: string }; Body: SettingsEdit & { name?: string } }>(
    '/v1/workspaces/:workspace',
    {
      config: { access: ['admin'] },
      schema: {
        summary: 'Rename a workspace, or limit how much it may hold',
        params: workspaceParams,
        body: objectSchema({ name: nameSchema, ...quotaEditSchema }),
      },
    },
    async (request) => {
      const { info } = await openWorkspace(workspaces, request)
      const scope = scopeOf(request)
      const { name, ...quota } = request.body
      if (name !== undefined) {
        requireOwner(request, 'rename a workspace')
        await workspaces.rename(ownerOf(request), info.id, name)
      }
      if (scope) {
        requireUnbound(scope)
        requireWhole(scope, 'admin', '/')
      }
      return workspaces.setQuota(ownerOf(request), info.id, quota)
    },
  )
}

function deletionRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  app.delete<{ Params: { workspace: string } }>(
    '/v1/workspaces/:workspace',
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Delete a workspace; it can be restored for a week',
        params: workspaceParams,
      },
    },
    async (request) => workspaces.remove(ownerOf(request), request.params.workspace),
  )

  app.post<{ Params: { workspace: string }; Body: { name?: string } }>(
    '/v1/workspaces/:workspace/restore',
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Restore a deleted workspace, by id or by the name it had',
        params: workspaceParams,
        body: objectSchema({ name: nameSchema }),
      },
    },
    async (request) =>
      workspaces.restore(ownerOf(request), request.params.workspace, request.body.name),
  )
}

function requireOwner(request: FastifyRequest, what: string): void {
  if (!scopeOf(request)) return
  throw new CairnError('forbidden', {
    what: `${what} with a token`,
    reason: `it takes an owner's key`,
  })
}
