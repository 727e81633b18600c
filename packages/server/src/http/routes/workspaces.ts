import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CairnError, seesAll } from '@cairn/protocol'
import { workspaceRoutes as table } from '@cairn/protocol/routes'
import { requireUnbound, requireWhole } from '../../layers/scoped-layers.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { openWorkspace, ownerOf, scopeOf } from '../context.ts'
import { isOn } from '../flag.ts'

export function workspaceRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  collectionRoutes(app, workspaces)
  workspaceRoute(app, workspaces)
  deletionRoutes(app, workspaces)
}

function collectionRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  const add = adderOf(app, table)

  add('POST /v1/workspaces', { access: 'owner' }, async (request, reply) => {
    void reply.code(201)
    return workspaces.create(ownerOf(request), request.body.name)
  })

  add('GET /v1/workspaces', { access: 'workspace' }, async (request) => {
    const [owner, scope] = [ownerOf(request), scopeOf(request)]
    const { cursor, limit, deleted } = request.query
    if (isOn(deleted)) {
      requireOwner(request, 'list deleted workspaces')
      return workspaces.listDeleted(owner, cursor, limit)
    }
    if (!scope) return workspaces.list(owner, cursor, limit)
    const { info } = await workspaces.open(owner, scope.workspace)
    return { items: cursor === undefined ? [info] : [] }
  })
}

function workspaceRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  const add = adderOf(app, table)

  add('GET /v1/workspaces/:workspace', { access: 'workspace' }, async (request) => {
    const { info } = await openWorkspace(workspaces, request)
    const scope = scopeOf(request)
    // How much there is in all is not for a token that sees a part.
    if (scope && !seesAll(scope.grant)) return info
    return workspaces.describe(ownerOf(request), info.id)
  })

  add('PATCH /v1/workspaces/:workspace', { access: ['admin'] }, async (request) => {
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
  })
}

function deletionRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  const add = adderOf(app, table)

  add('DELETE /v1/workspaces/:workspace', { access: 'owner' }, async (request) =>
    workspaces.remove(ownerOf(request), request.params.workspace),
  )

  add('POST /v1/workspaces/:workspace/restore', { access: 'owner' }, async (request) =>
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
