import type { FastifyInstance } from 'fastify'
import type { SettingsEdit } from '../../layers/quotas.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { ownerOf } from '../context.ts'
import { limitSchema, objectSchema, quotaEditSchema, workspaceParams } from '../schema.ts'

export function workspaceRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  app.post<{ Body: { name: string } }>(
    '/v1/workspaces',
    {
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
      schema: {
        summary: 'List workspaces',
        querystring: objectSchema({ cursor: { type: 'string' }, limit: limitSchema }),
      },
    },
    (request) => workspaces.list(ownerOf(request), request.query.cursor, request.query.limit),
  )

  app.get<{ Params: { workspace: string } }>(
    '/v1/workspaces/:workspace',
    { schema: { summary: 'Look a workspace up by name or id', params: workspaceParams } },
    (request) => workspaces.describe(ownerOf(request), request.params.workspace),
  )

  app.patch<{ Params: { workspace: string }; Body: SettingsEdit }>(
    '/v1/workspaces/:workspace',
    {
      schema: {
        summary: 'Limit how much a workspace may hold',
        params: workspaceParams,
        body: objectSchema(quotaEditSchema),
      },
    },
    (request) => workspaces.setQuota(ownerOf(request), request.params.workspace, request.body),
  )

  app.delete<{ Params: { workspace: string } }>(
    '/v1/workspaces/:workspace',
    { schema: { summary: 'Take a workspace away', params: workspaceParams } },
    async (request, reply) => {
      await workspaces.remove(ownerOf(request), request.params.workspace)
      void reply.code(204)
    },
  )
}
