import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { type LayerChange, layerStates, type Page } from '@cairn/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { atBarrier } from '../../layers/barrier.ts'
import { createCheckpoint, deleteCheckpoint, listCheckpoints } from '../../layers/checkpoints.ts'
import { findEnds, listDiff, patchDiff, statDiff } from '../../layers/diff.ts'
import {
  chainOf,
  createLayer,
  type CreateOptions,
  deleteLayer,
  editLayer,
  type LayerEdit,
  listLayers,
} from '../../layers/layers.ts'
import type { LayerFilter } from '../../layers/layer-store.ts'
import { digest } from '../../layers/once.ts'
import { findPoint, type PointQuery } from '../../layers/references.ts'
import { statusOf } from '../../layers/status.ts'
import type { Asker, Workspace } from '../../workspaces/workspace.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { askerOf, ownerOf } from '../context.ts'
import { pathOfText } from '../raw-path.ts'
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

export async function openLayer(
  workspaces: Workspaces,
  request: FastifyRequest,
): Promise<LayerTarget> {
  const { workspace: name, layer = '' } = request.params as Partial<LayerParams>
  const workspace = await workspaces.open(ownerOf(request), name!)
  return { workspace, asker: askerOf(request), layer }
}

export function layerRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  createRoute(app, workspaces)
  listRoute(app, workspaces)
  layerRoute(app, workspaces)
  checkpointRoutes(app, workspaces)
  diffRoute(app, workspaces)
  forkRoute(app, workspaces)
}

function createRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.post<{ Body: CreateOptions }>(
    url,
    {
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
      const { path } = request.body
      const options = { ...request.body, path: path === undefined ? undefined : pathOfText(path) }
      void reply.code(201)
      return createLayer(workspace, asker, options)
    },
  )
}

function listRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.get<{ Querystring: LayerFilter & { cursor?: string; limit: number } }>(
    url,
    {
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
      const { workspace } = await openLayer(workspaces, request)
      const { cursor, limit, ...filter } = request.query
      return listLayers(workspace, filter, cursor, limit)
    },
  )
}

function layerRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.get(
    `${url}/:layer`,
    { schema: { summary: 'What a layer changed, and who else did', params: layerParams } },
    async (request) => {
      const { workspace, layer } = await openLayer(workspaces, request)
      return statusOf(workspace, layer)
    },
  )

  app.patch<{ Body: LayerEdit }>(
    `${url}/:layer`,
    {
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
      const { workspace, asker, layer } = await openLayer(workspaces, request)
      return editLayer(workspace, asker, layer, request.body)
    },
  )

  app.delete<{ Querystring: { cascade?: string } }>(
    `${url}/:layer`,
    {
      schema: {
        summary: 'Take a layer away; with ?cascade, those made from it too',
        params: layerParams,
        querystring: objectSchema({ cascade: flagSchema }),
      },
    },
    async (request) => {
      const { workspace, asker, layer } = await openLayer(workspaces, request)
      return deleteLayer(workspace, asker, layer, isOn(request.query.cascade))
    },
  )

  app.get(
    `${url}/:layer/chain`,
    { schema: { summary: 'The layers a layer stands on, itself last', params: layerParams } },
    async (request) => {
      const { workspace, layer } = await openLayer(workspaces, request)
      return { items: await chainOf(workspace, layer) }
    },
  )
}

function checkpointRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  app.post<{ Body: { id?: string; label?: string; toolCall?: string } }>(
    `${url}/:layer/checkpoints`,
    {
      schema: {
        summary: 'Name a layer as it is, after what live sessions have acknowledged',
        params: layerParams,
        body: objectSchema({ id: nameSchema, label: labelSchema, toolCall: labelSchema }),
      },
    },
    async (request, reply) => {
      const { workspace, asker, layer } = await openLayer(workspaces, request)
      void reply.code(201)
      return createCheckpoint(workspace, asker, layer, request.body)
    },
  )

  app.get<{ Querystring: { cursor?: string; limit: number } }>(
    `${url}/:layer/checkpoints`,
    {
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
      const { workspace, layer } = await openLayer(workspaces, request)
      const { cursor = '0', limit } = request.query
      return pageOf(await listCheckpoints(workspace, layer), Number(cursor), limit)
    },
  )

  app.delete<{ Params: LayerParams & { checkpoint: string } }>(
    `${url}/:layer/checkpoints/:checkpoint`,
    { schema: { summary: 'Forget a checkpoint', params: layerParams } },
    async (request, reply) => {
      const { workspace, layer } = await openLayer(workspaces, request)
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
      const { workspace, layer } = await openLayer(workspaces, request)
      const { from, to, path = '/', stat, patch } = request.query
      const ends = await findEnds(workspace, layer, from, to, pathOfText(path))
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

function forkRoute(app: FastifyInstance, workspaces: Workspaces): void {
  app.post<{ Body: { name: string }; Querystring: PointQuery; Params: { workspace: string } }>(
    '/v1/workspaces/:workspace/fork',
    {
      schema: {
        summary: 'Make a workspace that starts from a point of this one',
        params: workspaceParams,
        querystring: objectSchema(branchQuery),
        body: objectSchema({ name: nameSchema }, ['name']),
      },
    },
    async (request, reply) => {
      const { workspace, asker } = await openLayer(workspaces, request)
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
