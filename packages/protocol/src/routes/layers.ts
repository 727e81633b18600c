import { layerStates } from '../layer-words.ts'
import {
  boolean,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
} from '../schema/build.ts'
import {
  cursor,
  flag,
  items,
  limit,
  name,
  page,
  pointQuery,
  quotaEdit,
  quotaFields,
  workspaceParams,
} from '../schema/common.ts'
import { media, routes } from '../schema/route.ts'
import {
  CheckpointInfo,
  CommitReceipt,
  LayerChange,
  layerId,
  LayerInfo,
  LayerStatus,
  PickReceipt,
  ResolveReceipt,
  RootReceipt,
} from './layer-shapes.ts'
import { WorkspaceInfo } from './workspaces.ts'

const path = text({ maxLength: 4096, examples: ['/repo'] })
const message = optional(text({ maxLength: 4096, examples: ['Rename the option'] }))
/** An id, a name, a tag or the label of a checkpoint. */
const reference = (example: string) => text({ minLength: 1, maxLength: 256, examples: [example] })
const tagKey = text({ pattern: '^[^=]{1,128}$', wants: '1 to 128 characters without =' })
const label = (example: string) =>
  text({
    maxLength: 256,
    pattern: '^[^\\u0000-\\u001f]*$',
    wants: 'text without control characters',
    examples: [example],
  })
/** A day is the longest that a server waits for quiet. */
const quietMs = integer({ minimum: 100, maximum: 86_400_000, examples: [60_000] })

const params = object({ ...workspaceParams.fields, layer: reference('attempt-1') })
const merge = optional(boolean({ examples: [true] }))
const dryRun = optional(boolean({ examples: [false] }))

export const layerRoutes = routes({
  'POST /v1/workspaces/:workspace/layers': {
    summary: 'Make a layer: a branch on a frozen base, for one attempt',
    params: workspaceParams,
    body: object({
      path: optional(path),
      id: optional(name('attempt-1')),
      name: optional(name('attempt-1')),
      tags: optional(record(label('a'), { propertyNames: tagKey })),
      message,
      parent: optional(reference('main')),
      at: optional(reference('base')),
      ...quotaFields,
      autoCheckpointMs: optional(quietMs),
    }),
    answers: { 201: LayerInfo },
  },
  'GET /v1/workspaces/:workspace/layers': {
    summary: 'List layers in the order in which they were made',
    params: workspaceParams,
    query: object({
      tag: optional(label('agent=a')),
      state: optional(oneOf(layerStates)),
      parent: optional(reference('main')),
      cursor: optional(cursor()),
      limit: limit(),
    }),
    answers: { 200: page(LayerInfo) },
  },
  'GET /v1/workspaces/:workspace/layers/:layer': {
    summary: 'What a layer changed, and who else did',
    params,
    answers: { 200: LayerStatus },
  },
  'PATCH /v1/workspaces/:workspace/layers/:layer': {
    summary: 'Rename a layer, change its tags, quotas and the like',
    params,
    body: object({
      name: optional(name('attempt-1')),
      message,
      ...quotaEdit,
      autoCheckpointMs: optional(nullable(quietMs)),
      tags: optional(record(nullable(label('a')), { propertyNames: tagKey })),
    }),
    answers: { 200: LayerInfo },
  },
  'DELETE /v1/workspaces/:workspace/layers/:layer': {
    summary: 'Delete a layer; with ?cascade, those made from it too',
    params,
    query: object({ cascade: optional(flag()) }),
    answers: { 200: object({ deleted: list(layerId) }) },
  },
  'GET /v1/workspaces/:workspace/layers/:layer/chain': {
    summary: 'The layers a layer stands on, itself last',
    params,
    answers: { 200: items(LayerInfo) },
  },
  'POST /v1/workspaces/:workspace/layers/:layer/checkpoints': {
    summary: 'Name a layer as it is, after what live sessions have acknowledged',
    params,
    body: object({
      id: optional(name('before-refactoring')),
      label: optional(label('green')),
      toolCall: optional(label('call-7')),
    }),
    answers: { 201: CheckpointInfo },
  },
  'GET /v1/workspaces/:workspace/layers/:layer/checkpoints': {
    summary: 'List the checkpoints of a layer, oldest first',
    params,
    query: object({
      cursor: optional(text({ pattern: '^\\d+$', wants: 'a whole number', examples: ['100'] })),
      limit: limit(),
    }),
    answers: { 200: page(CheckpointInfo) },
  },
  'DELETE /v1/workspaces/:workspace/layers/:layer/checkpoints/:checkpoint': {
    summary: 'Delete a checkpoint',
    params: object({ ...params.fields, checkpoint: text({ examples: ['green'] }) }),
    answers: { 204: null },
  },
  'GET /v1/workspaces/:workspace/layers/:layer/diff': {
    summary: 'What differs between two points; with ?stat in lines, with ?patch as text',
    params,
    query: object({
      from: optional(reference('base')),
      to: optional(reference('head')),
      path: optional(path),
      stat: optional(flag()),
      patch: optional(flag()),
    }),
    answers: { 200: [items(LayerChange), media('text/x-diff')] },
  },
  'POST /v1/workspaces/:workspace/fork': {
    summary: 'Make a workspace that starts from a point of this one',
    params: workspaceParams,
    query: pointQuery,
    body: object({ name: name('copy') }),
    answers: { 201: WorkspaceInfo },
  },
})

export const layerChangeRoutes = routes({
  'POST /v1/workspaces/:workspace/layers/:layer/abandon': {
    summary: 'Give a layer up',
    params,
    body: object({}),
    answers: { 200: LayerInfo },
  },
  'POST /v1/workspaces/:workspace/layers/:layer/reopen': {
    summary: 'Bring an abandoned layer back',
    params,
    body: object({}),
    answers: { 200: LayerInfo },
  },
  'POST /v1/workspaces/:workspace/layers/:layer/rollback': {
    summary: 'Put a layer back to a checkpoint, or to its base',
    params,
    body: object({
      to: optional(reference('green')),
      beforeToolCall: optional(reference('call-7')),
    }),
    answers: { 200: RootReceipt },
  },
  'POST /v1/workspaces/:workspace/layers/:layer/undo': {
    summary: 'Undo a rollback',
    params,
    body: object({}),
    answers: { 200: RootReceipt },
  },
  'POST /v1/workspaces/:workspace/layers/:layer/rebase': {
    summary: 'Put a layer on top of what its parent is now',
    params,
    body: object({ merge, message }),
    answers: { 200: RootReceipt },
  },
  'POST /v1/workspaces/:workspace/layers/:layer/resolve': {
    summary: 'Decide the conflicts at a path',
    params,
    body: object({
      path,
      take: oneOf(['layer', 'target', 'content']),
      text: optional(text()),
      base64: optional(text()),
    }),
    answers: { 200: ResolveReceipt },
  },
  'POST /v1/workspaces/:workspace/layers/:layer/commit': {
    summary: 'Apply a layer to its parent, all or nothing',
    params,
    body: object({ message, merge, dryRun, checkpoint: optional(reference('green')) }),
    answers: { 200: CommitReceipt },
  },
  'POST /v1/workspaces/:workspace/layers/:layer/pick': {
    summary: 'Commit one of several attempts and abandon the others',
    params,
    body: object({ message, merge, dryRun }),
    answers: { 200: PickReceipt },
  },
})
