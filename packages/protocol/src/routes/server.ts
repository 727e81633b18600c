import { layerStates } from '../layer-words.ts'
import {
  anything,
  boolean,
  integer,
  list,
  named,
  object,
  type Of,
  oneOf,
  optional,
  text,
} from '../schema/build.ts'
import { flag, name, time } from '../schema/common.ts'
import { media, routes } from '../schema/route.ts'

const count = integer({ examples: [2] })
const workspace = text({ examples: ['ws_1f0c'] })
const id = text({ examples: ['layer_77ab'] })

/** So many of a kind, and their bytes as they are stored. */
export type Tally = Of<typeof Tally>
export const Tally = named('Tally', object({ count, bytes: integer({ examples: [4096] }) }))

export type ContentTally = Of<typeof ContentTally>
export const ContentTally = named('ContentTally', object({ nodes: Tally, blobs: Tally }))

/** What goes, by name. */
export type Gone = Of<typeof Gone>
export const Gone = named(
  'Gone',
  object({
    /** Deleted before the retention time began. */
    workspaces: list(object({ id: workspace, name: name('demo'), deletedAt: time() })),
    /** Over since before the retention time began. */
    layers: list(
      object({
        workspace,
        id,
        name: optional(text()),
        state: oneOf(layerStates),
        closedAt: time(),
      }),
    ),
    /** Those of these workspaces and layers, and of deleted layers. */
    branches: list(
      object({
        workspace,
        id: text({ examples: ['branch_90cd'] }),
        /** The id of the layer that it was. */
        layer: optional(id),
      }),
    ),
  }),
)

/** What a run of the garbage collector did, or with a dry run would do. */
export type CollectReport = Of<typeof CollectReport>
export const CollectReport = named(
  'CollectReport',
  object({
    dryRun: boolean(),
    /** Layers that had been over for the retention time, and are deleted now. */
    layers: count,
    /** Branches that went with their logs and checkpoints: of layers and workspaces that were deleted for so long. */
    branches: count,
    /** Checkpoints of lost leases that their holders will not ask for any more. */
    checkpoints: count,
    /** Over HTTP, of the asker's own workspaces: the numbers are of all. */
    gone: Gone,
    /** What is stored and needed. */
    kept: ContentTally,
    /** Unreachable data. */
    removed: ContentTally,
    /** What nothing needs, in its grace time. */
    waiting: ContentTally,
  }),
)

/** What a rotation of the master key did. */
export type RotationReport = Of<typeof RotationReport>
export const RotationReport = named(
  'RotationReport',
  object({
    /** The id of the key that everything is wrapped with now. */
    masterKey: text({ examples: ['mk_3b1a'] }),
    /** Workspaces whose key was wrapped anew. */
    rewrapped: count,
    /** Those wrapped with a key that is not known here. */
    left: integer({ examples: [0] }),
  }),
)

/** What a server keeps beside its stores, and whom it serves. */
export type ServerStatus = Of<typeof ServerStatus>
export const ServerStatus = named(
  'ServerStatus',
  object({
    /** The index of searches. */
    search: object({
      /** Distinct contents of files that have a signature. */
      contents: count,
      /** On disk. */
      bytes: integer({ examples: [4096] }),
      /** Files that are still to be looked at in the background. */
      waiting: integer({ examples: [0] }),
    }),
    /** Mounts and other clients that follow a branch. */
    sessions: object({
      /** Served by this server, also where another one relays them to it. */
      open: count,
      /** Relayed by this server to the one that has the other writers of their branch. */
      relayed: integer({ examples: [0] }),
    }),
  }),
)

const status = object({ status: text({ examples: ['ok'] }) })

export const serverRoutes = routes({
  'GET /healthz': { summary: 'The process is up', answers: { 200: status } },
  'GET /readyz': { summary: 'The stores answer', answers: { 200: status } },
  'GET /metrics': { summary: 'Prometheus metrics', answers: { 200: media('text/plain') } },
  'GET /v1/openapi.json': {
    summary: 'This API, for machines',
    answers: { 200: anything<object>({ examples: [{ openapi: '3.1.0' }] }) },
  },
  'GET /install': {
    summary: 'A shell script that installs the cairn command which fits this server',
    answers: { 200: media('text/x-shellscript') },
  },
  'GET /install/:file': {
    summary: 'A client that the script installs',
    params: object({ file: text({ examples: ['cairn-single'] }) }),
    answers: { 200: media('application/octet-stream') },
  },
  'GET /v1/server/status': {
    summary:
      'What this server keeps beside its stores, how far its background work is, and how many sessions it has',
    answers: { 200: ServerStatus },
  },
  'POST /v1/server/gc': {
    summary: 'Delete unreachable data; with ?dryRun, only report it',
    query: object({ dryRun: optional(flag()) }),
    answers: { 200: CollectReport },
  },
  'POST /v1/server/rotate-master-key': {
    summary: 'Take the next master key into use, and wrap every key with it',
    answers: { 200: RotationReport },
  },
})
