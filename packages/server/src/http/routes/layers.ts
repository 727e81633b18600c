import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  type AccessOperation,
  accessOperations,
  type LayerChange,
  type Page,
} from '@cairn/protocol'
import { layerRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../../access/access.ts'
import {
  findScopedLayer,
  requireEnds,
  requireLayer,
  requireUnbound,
  requireWhole,
} from '../../layers/scoped-layers.ts'
import { isShown, ownReference, requireIdChoice } from '../../layers/layer-names.ts'
import { atBarrier } from '../../workspaces/barrier.ts'
import { createCheckpoint, deleteCheckpoint, listCheckpoints } from '../../points/checkpoints.ts'
import { seeChange } from '../../access/visible-diff.ts'
import { overlapSight } from '../../merging/visible-overlaps.ts'
import { findEnds, listDiff, patchDiff, statDiff } from '../../points/diff.ts'
import {
  chainOf,
  createLayer,
  type CreateOptions,
  deleteLayer,
  editLayer,
  listLayers,
} from '../../layers/layers.ts'
import { digest } from '../../once/once.ts'
import { findPoint } from '../../points/references.ts'
import { statusOf } from '../../merging/status.ts'
import type { OpenWorkspace } from '../../workspaces/open-workspace.ts'
import type { Asker } from '../../workspaces/path-changes.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { askerOf, openWorkspace, ownerOf, requireOnePoint } from '../context.ts'
import { bytesOfText, pathOfText } from '../raw-path.ts'
import { isOn } from '../flag.ts'

interface LayerParams {
  readonly workspace: string
  readonly layer: string
}

/** What a request about a layer is about. */
interface LayerTarget {
  readonly workspace: OpenWorkspace
  readonly asker: Asker
  readonly layer: string
}

async function openLayer(
  workspaces: WorkspaceKeeper,
  request: FastifyRequest,
): Promise<LayerTarget> {
  const { layer = '' } = request.params as Partial<LayerParams>
  const [workspace, asker] = [await openWorkspace(workspaces, request), askerOf(request)]
  return { workspace, asker, layer: await ownReference(workspace, asker.scope, layer) }
}

/** A layer as a whole: a token must allow the operation for all of its path. */
export async function openWholeLayer(
  workspaces: WorkspaceKeeper,
  request: FastifyRequest,
  operation: AccessOperation,
): Promise<LayerTarget> {
  const target = await openLayer(workspaces, request)
  const { scope } = target.asker
  if (scope) await requireLayer(target.workspace, scope, target.layer, operation)
  return target
}

export function layerRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  createRoute(app, workspaces)
  listRoute(app, workspaces)
  layerRoute(app, workspaces)
  chainRoute(app, workspaces)
  checkpointRoutes(app, workspaces)
  diffRoute(app, workspaces)
  forkRoute(app, workspaces)
}

function createRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'POST /v1/workspaces/:workspace/layers',
    { access: ['write'] },
    async (request, reply) => {
      const { workspace, asker } = await openLayer(workspaces, request)
      const { path, parent } = request.body
      const options = {
        ...request.body,
        path: path === undefined ? undefined : pathOfText(path),
        ...(parent ? { parent: await ownReference(workspace, asker.scope, parent) } : {}),
      }
      if (asker.scope) await requireCreatable(workspace, asker.scope, options)
      void reply.code(201)
      return createLayer(workspace, asker, options)
    },
  )
}

/** Made at a path where everything may be written, on a layer that exists for the token. */
async function requireCreatable(
  workspace: OpenWorkspace,
  scope: Scope,
  { path, parent = 'main', id }: CreateOptions,
): Promise<void> {
  requireUnbound(scope)
  requireIdChoice(scope, id)
  const { record } = await findScopedLayer(workspace, scope, parent)
  requireWhole(scope, 'write', path ?? record?.path ?? '/')
}

function shownTo<Layer extends { readonly id: string; readonly path: string }>(
  { grant }: Scope,
  layers: readonly Layer[],
): readonly Layer[] {
  return layers.filter(({ id, path }) => isShown(grant, id, bytesOfText(path)))
}

function listRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'GET /v1/workspaces/:workspace/layers',
    { access: accessOperations },
    async (request) => {
      const { workspace, asker } = await openLayer(workspaces, request)
      const { cursor, limit, parent: named, ...others } = request.query
      const { scope } = asker
      const parent = named && (await ownReference(workspace, scope, named))
      if (scope && parent !== undefined) await findScopedLayer(workspace, scope, parent)
      const filter = parent === undefined ? others : { ...others, parent }
      if (!scope) return listLayers(workspace, filter, cursor, limit)
      return listLayers(workspace, filter, cursor, limit, ({ id, path }) =>
        isShown(scope.grant, id, path),
      )
    },
  )
}

function layerRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  const add = adderOf(app, table)

  add('GET /v1/workspaces/:workspace/layers/:layer', { access: ['list'] }, async (request) => {
    const { workspace, layer, asker } = await openWholeLayer(workspaces, request, 'list')
    return statusOf(workspace, layer, asker.scope && overlapSight(asker.scope.grant))
  })

  add('PATCH /v1/workspaces/:workspace/layers/:layer', { access: ['write'] }, async (request) => {
    const { maxBytes, maxFiles } = request.body
    const isQuota = maxBytes !== undefined || maxFiles !== undefined
    const operation = isQuota ? 'admin' : 'write'
    const { workspace, asker, layer } = await openWholeLayer(workspaces, request, operation)
    return editLayer(workspace, asker, layer, request.body)
  })

  add('DELETE /v1/workspaces/:workspace/layers/:layer', { access: ['delete'] }, async (request) => {
    const { workspace, asker, layer } = await openWholeLayer(workspaces, request, 'delete')
    return deleteLayer(workspace, asker, layer, isOn(request.query.cascade))
  })
}

function chainRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'GET /v1/workspaces/:workspace/layers/:layer/chain',
    { access: accessOperations },
    async (request) => {
      const { workspace, layer, asker } = await openLayer(workspaces, request)
      const { scope } = asker
      if (scope) await findScopedLayer(workspace, scope, layer)
      const items = await chainOf(workspace, layer)
      return { items: scope ? shownTo(scope, items) : items }
    },
  )
}

function checkpointRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  const add = adderOf(app, table)

  add(
    'POST /v1/workspaces/:workspace/layers/:layer/checkpoints',
    { access: ['write'] },
    async (request, reply) => {
      const { workspace, asker, layer } = await openWholeLayer(workspaces, request, 'write')
      void reply.code(201)
      return createCheckpoint(workspace, asker, layer, request.body)
    },
  )

  add(
    'GET /v1/workspaces/:workspace/layers/:layer/checkpoints',
    { access: ['list'] },
    async (request) => {
      const { workspace, layer } = await openWholeLayer(workspaces, request, 'list')
      const { cursor = '0', limit } = request.query
      return pageOf(await listCheckpoints(workspace, layer), Number(cursor), limit)
    },
  )

  add(
    'DELETE /v1/workspaces/:workspace/layers/:layer/checkpoints/:checkpoint',
    { access: ['write'] },
    async (request, reply) => {
      const { workspace, layer } = await openWholeLayer(workspaces, request, 'write')
      await deleteCheckpoint(workspace, layer, request.params.checkpoint)
      void reply.code(204)
    },
  )
}

function pageOf<Item>(all: readonly Item[], start: number, limit: number): Page<Item> {
  const items = all.slice(start, start + limit)
  return all.length > start + limit ? { items, next: String(start + limit) } : { items }
}

function diffRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'GET /v1/workspaces/:workspace/layers/:layer/diff',
    { access: ['list', 'read'] },
    async (request, reply) => {
      const { workspace, layer, asker } = await openLayer(workspaces, request)
      const { scope } = asker
      const { from, to, path = '/', stat, patch } = request.query
      if (scope) await requireEnds(workspace, scope, layer, [from, to])
      const operation = isOn(patch) || isOn(stat) ? 'read' : 'list'
      const found = await findEnds(workspace, layer, from, to, pathOfText(path))
      const ends = scope ? { ...found, see: seeChange(scope.grant, operation) } : found
      if (isOn(patch)) return sendPatch(reply, patchDiff(workspace, ends))
      if (!isOn(stat)) return { items: await listDiff(workspace, ends) }
      const items: LayerChange[] = []
      for await (const change of statDiff(workspace, ends)) items.push(change)
      return { items }
    },
  )
}

function sendPatch(reply: FastifyReply, patch: AsyncIterable<Uint8Array>): FastifyReply {
  void reply.type('text/x-diff; charset=utf-8')
  return reply.send(Readable.from(patch, { objectMode: false }))
}

function forkRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'POST /v1/workspaces/:workspace/fork',
    { access: 'owner' },
    async (request, reply) => {
      const { workspace, asker } = await openLayer(workspaces, request)
      requireOnePoint(request.query, asker)
      const { branch, snapshot } = await findPoint(workspace, request.query)
      const start = snapshot ?? (await atBarrier(workspace, branch, () => branch.fold())).snapshot
      const { actor, idempotencyKey = randomUUID() } = asker
      const id = `ws_${digest(`${actor}:${idempotencyKey}`)}`
      void reply.code(201)
      const { name } = request.body
      return workspaces.fork(ownerOf(request), request.params.workspace, name, id, start)
    },
  )
}
