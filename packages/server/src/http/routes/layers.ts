import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  type AccessOperation,
  accessOperations,
  type LayerChange,
  layerStates,
  type Page,
} from '@cairn/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../../access/access.ts'
import {
  findScopedLayer,
  requireEnd,
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
  type LayerEdit,
  listLayers,
} from '../../layers/layers.ts'
import type { LayerFilter } from '../../ports/layer-store.ts'
import { digest } from '../../workspaces/once.ts'
import { findPoint, type PointQuery } from '../../points/references.ts'
import { statusOf } from '../../merging/status.ts'
import type { Asker, Workspace } from '../../workspaces/workspace.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { askerOf, openWorkspace, ownerOf, requireOnePoint } from '../context.ts'
import { bytesOfText, pathOfText } from '../raw-path.ts'
import {
  branchQuery,
  flagSchema,
  isOn,
  limitSchema,
  objectSchema,
  orNull,
  quietSchema,
  quotaEditSchema,
  quotaSchema,
  workspaceParams,
} from '../schema.ts'

const url = '/v1/workspaces/:workspace/layers'
const text = { type: 'string', maxLength: 4096 } as const
const referenceSchema = { type: 'string', minLength: 1, maxLength: 256 } as const
/** Without the signs that have a meaning in references. */
const nameSchema = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' } as const
const tagKeys = { type: 'string', pattern: '^[^=]{1,128}$' } as const
const labelSchema = { type: 'string', maxLength: 256, pattern: '^[^\\u0000-\\u001f]*$' } as const

interface LayerParams {
  readonly workspace: string
  readonly layer: string
}

/** What a request about a layer is about. */
interface LayerTarget {
  readonly workspace: Workspace
  readonly asker: Asker
  readonly layer: string
}

export const layerParams: object = {
  type: 'object',
  required: ['workspace', 'layer'],
  properties: { ...workspaceParams.properties, layer: referenceSchema },
}

async function openLayer(workspaces: Workspaces, request: FastifyRequest): Promise<LayerTarget> {
  const { layer = '' } = request.params as Partial<LayerParams>
  const [workspace, asker] = [await openWorkspace(workspaces, request), askerOf(request)]
  return { workspace, asker, layer: await ownReference(workspace, asker.scope, layer) }
}

/** A layer as a whole: a token must allow the operation for all of its path. */
export async function openWholeLayer(
  workspaces: Workspaces,
  request: FastifyRequest,
  operation: AccessOperation,
): Promise<LayerTarget> {
  const target = await openLayer(workspaces, request)
  const { scope } = target.asker
  if (scope) await requireLayer(target.workspace, scope, target.layer, operation)
  return target
}

export function layerRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  createRoute(app, workspaces)
  listRoute(app, workspaces)
  layerRoute(app, workspaces)
  chainRoute(app, workspaces)
  checkpointRoutes(app, workspaces)
  diffRoute(app, workspaces)
  forkRoute(app, workspaces)
}

function createRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.post<{ Body: CreateOptions }>(
    url,
    {
      config: { access: ['write'] },
      schema: {
        summary: 'Make a layer: a branch on a frozen base, for one attempt',
        params: workspaceParams,
        body: objectSchema({
          path: text,
          id: nameSchema,
          name: nameSchema,
          tags: { type: 'object', propertyNames: tagKeys, additionalProperties: labelSchema },
          message: text,
          parent: referenceSchema,
          at: referenceSchema,
          ...quotaSchema,
          autoCheckpointMs: quietSchema,
        }),
      },
    },
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
  workspace: Workspace,
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

function listRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.get<{ Querystring: LayerFilter & { cursor?: string; limit: number } }>(
    url,
    {
      config: { access: accessOperations },
      schema: {
        summary: 'List layers in the order in which they were made',
        params: workspaceParams,
        querystring: objectSchema({
          tag: labelSchema,
          state: { enum: layerStates },
          parent: referenceSchema,
          cursor: { type: 'string', maxLength: 512 },
          limit: limitSchema,
        }),
      },
    },
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

function layerRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.get(
    `${url}/:layer`,
    {
      config: { access: ['list'] },
      schema: { summary: 'What a layer changed, and who else did', params: layerParams },
    },
    async (request) => {
      const { workspace, layer, asker } = await openWholeLayer(workspaces, request, 'list')
      return statusOf(workspace, layer, asker.scope && overlapSight(asker.scope.grant))
    },
  )

  app.patch<{ Body: LayerEdit }>(
    `${url}/:layer`,
    {
      config: { access: ['write'] },
      schema: {
        summary: 'Rename a layer, set or take away tags, quotas and the like',
        params: layerParams,
        body: objectSchema({
          name: nameSchema,
          message: text,
          ...quotaEditSchema,
          autoCheckpointMs: orNull(quietSchema),
          tags: {
            type: 'object',
            propertyNames: tagKeys,
            additionalProperties: orNull(labelSchema),
          },
        }),
      },
    },
    async (request) => {
      const { maxBytes, maxFiles } = request.body
      const isQuota = maxBytes !== undefined || maxFiles !== undefined
      const { workspace, asker, layer } = await openWholeLayer(
        workspaces,
        request,
        isQuota ? 'admin' : 'write',
      )
      return editLayer(workspace, asker, layer, request.body)
    },
  )

  app.delete<{ Querystring: { cascade?: string } }>(
    `${url}/:layer`,
    {
      config: { access: ['delete'] },
      schema: {
        summary: 'Take a layer away; with ?cascade, those made from it too',
        params: layerParams,
        querystring: objectSchema({ cascade: flagSchema }),
      },
    },
    async (request) => {
      const { workspace, asker, layer } = await openWholeLayer(workspaces, request, 'delete')
      return deleteLayer(workspace, asker, layer, isOn(request.query.cascade))
    },
  )
}

function chainRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.get(
    `${url}/:layer/chain`,
    {
      config: { access: accessOperations },
      schema: { summary: 'The layers a layer stands on, itself last', params: layerParams },
    },
    async (request) => {
      const { workspace, layer, asker } = await openLayer(workspaces, request)
      const { scope } = asker
      if (scope) await findScopedLayer(workspace, scope, layer)
      const items = await chainOf(workspace, layer)
      return { items: scope ? shownTo(scope, items) : items }
    },
  )
}

function checkpointRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  app.post<{ Body: { id?: string; label?: string; toolCall?: string } }>(
    `${url}/:layer/checkpoints`,
    {
      config: { access: ['write'] },
      schema: {
        summary: 'Name a layer as it is, after what live sessions have acknowledged',
        params: layerParams,
        body: objectSchema({ id: nameSchema, label: labelSchema, toolCall: labelSchema }),
      },
    },
    async (request, reply) => {
      const { workspace, asker, layer } = await openWholeLayer(workspaces, request, 'write')
      void reply.code(201)
      return createCheckpoint(workspace, asker, layer, request.body)
    },
  )

  app.get<{ Querystring: { cursor?: string; limit: number } }>(
    `${url}/:layer/checkpoints`,
    {
      config: { access: ['list'] },
      schema: {
        summary: 'List the checkpoints of a layer, oldest first',
        params: layerParams,
        querystring: objectSchema({
          cursor: { type: 'string', pattern: '^\\d+$' },
          limit: limitSchema,
        }),
      },
    },
    async (request) => {
      const { workspace, layer } = await openWholeLayer(workspaces, request, 'list')
      const { cursor = '0', limit } = request.query
      return pageOf(await listCheckpoints(workspace, layer), Number(cursor), limit)
    },
  )

  app.delete<{ Params: LayerParams & { checkpoint: string } }>(
    `${url}/:layer/checkpoints/:checkpoint`,
    {
      config: { access: ['write'] },
      schema: { summary: 'Forget a checkpoint', params: layerParams },
    },
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

interface DiffQuery {
  readonly from?: string
  readonly to?: string
  readonly path?: string
  readonly stat?: string
  readonly patch?: string
}

function diffRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.get<{ Querystring: DiffQuery }>(
    `${url}/:layer/diff`,
    {
      config: { access: ['list', 'read'] },
      schema: {
        summary: 'What differs between two points; with ?stat in lines, with ?patch as text',
        params: layerParams,
        querystring: objectSchema({
          from: referenceSchema,
          to: referenceSchema,
          path: text,
          stat: flagSchema,
          patch: flagSchema,
        }),
      },
    },
    async (request, reply): Promise<unknown> => {
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

async function requireEnds(
  workspace: Workspace,
  scope: Scope,
  layer: string,
  points: readonly (string | undefined)[],
): Promise<void> {
  const place = await findScopedLayer(workspace, scope, layer)
  for (const point of points) await requireEnd(workspace, scope, place, point)
}

function sendPatch(reply: FastifyReply, patch: AsyncIterable<Uint8Array>): FastifyReply {
  void reply.type('text/x-diff; charset=utf-8')
  return reply.send(Readable.from(patch, { objectMode: false }))
}

function forkRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.post<{ Body: { name: string }; Querystring: PointQuery; Params: { workspace: string } }>(
    '/v1/workspaces/:workspace/fork',
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Make a workspace that starts from a point of this one',
        params: workspaceParams,
        querystring: objectSchema(branchQuery),
        body: objectSchema({ name: nameSchema }, ['name']),
      },
    },
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
