import { LayerConflictError } from '@cairn/core'
import { type AccessOperation, type ByteString, CairnError } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import type { Scope } from '../../access/access.ts'
import { findScopedLayer, requireLayer, requireUnbound } from '../../layers/scoped-layers.ts'
import { RefusedMergeError } from '../../points/errors.ts'
import { abandon, reopen } from '../../layers/layers.ts'
import { commit, type CommitOptions, rebase, tryCommit } from '../../merging/commit-and-rebase.ts'
import { pick, tryPick } from '../../merging/pick.ts'
import { resolve, type ResolveOptions } from '../../merging/resolve.ts'
import { rollBack, type RollbackTarget, undo } from '../../merging/rollbacks.ts'
import { isoTime } from '../../ports/clock.ts'
import type { Asker, Workspace } from '../../workspaces/workspace.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { checkPath, bytesOfText } from '../raw-path.ts'
import { objectSchema } from '../schema.ts'
import { layerParams, openWholeLayer } from './layers.ts'

const url = '/v1/workspaces/:workspace/layers/:layer'
const reference = { type: 'string', minLength: 1, maxLength: 256 } as const
const text = { type: 'string', maxLength: 4096 } as const
const flag = { type: 'boolean' } as const

interface Change<Body> {
  readonly verb: string
  readonly summary: string
  /** What a token must allow for all of the layer's path; write unless given. */
  readonly operation?: AccessOperation
  readonly body?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly run: (workspace: Workspace, asker: Asker, layer: string, body: Body) => Promise<unknown>
}

interface MergeBody {
  readonly message?: string
  readonly merge?: boolean
  readonly checkpoint?: string
  readonly dryRun?: boolean
}

interface ResolveBody {
  readonly path: string
  readonly take: 'layer' | 'target' | 'content'
  readonly text?: string
  readonly base64?: string
}

/** Everything that is done to a layer as a whole. */
export function layerChangeRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  const add = <Body>(change: Change<Body>): void => {
    const { verb, summary, operation = 'write', body = {}, required = [], run } = change
    app.post(
      `${url}/${verb}`,
      {
        config: { access: [operation] },
        schema: { summary, params: layerParams, body: objectSchema(body, required) },
      },
      async (request) => {
        const { workspace, asker, layer } = await openWholeLayer(workspaces, request, operation)
        try {
          return await run(workspace, asker, layer, request.body as Body)
        } catch (error) {
          if (!(error instanceof LayerConflictError)) throw error
          throw new RefusedMergeError(error, asker.actor, isoTime(workspace.clock.now()))
        }
      },
    )
  }
  add({ verb: 'abandon', summary: 'Give a layer up', run: abandon })
  add({ verb: 'reopen', summary: 'Bring an abandoned layer back', run: reopen })
  add<RollbackTarget>({
    verb: 'rollback',
    summary: 'Put a layer back to a checkpoint, or to its base',
    body: { to: reference, beforeToolCall: reference },
    run: (workspace, asker, layer, body) =>
      rollBack(workspace, asker, layer, requireOneTarget(body)),
  })
  add({ verb: 'undo', summary: 'Take back a rollback', run: undo })
  add<MergeBody>({
    verb: 'rebase',
    summary: 'Put a layer on top of what its parent is now',
    body: { merge: flag, message: text },
    run: (workspace, asker, layer, body) => rebase(workspace, asker, layer, optionsOf(body)),
  })
  add<ResolveBody>({
    verb: 'resolve',
    summary: 'Decide the conflicts at a path',
    body: {
      path: text,
      take: { enum: ['layer', 'target', 'content'] },
      text: { type: 'string' },
      base64: { type: 'string' },
    },
    required: ['path', 'take'],
    run: (workspace, asker, layer, body) => resolve(workspace, asker, layer, choiceOf(body)),
  })
  add<MergeBody>({
    verb: 'commit',
    summary: 'Apply a layer to its parent, all or nothing',
    operation: 'commit',
    body: { message: text, merge: flag, dryRun: flag, checkpoint: reference },
    run: (workspace, asker, layer, body) =>
      (body.dryRun === true ? tryCommit : commit)(workspace, asker, layer, optionsOf(body)),
  })
  add<MergeBody>({
    verb: 'pick',
    summary: 'Commit one of several attempts and abandon the others',
    operation: 'commit',
    body: { message: text, merge: flag, dryRun: flag },
    run: async (workspace, asker, layer, body) => {
      if (asker.scope) await requireSiblings(workspace, asker.scope, layer)
      return (body.dryRun === true ? tryPick : pick)(workspace, asker, layer, optionsOf(body))
    },
  })
}

function requireOneTarget(target: RollbackTarget): RollbackTarget {
  if (target.to === undefined || target.beforeToolCall === undefined) return target
  throw new CairnError('invalid_argument', {
    what: 'roll back to two points',
    reason: 'want to or beforeToolCall, and not both',
    subject: 'beforeToolCall',
  })
}

/** Its siblings are abandoned: whatever their paths are, they lie within the parent's. */
async function requireSiblings(workspace: Workspace, scope: Scope, layer: string): Promise<void> {
  requireUnbound(scope)
  const { record } = await findScopedLayer(workspace, scope, layer)
  if (record) await requireLayer(workspace, scope, record.parent, 'commit')
}

function optionsOf({ message = '', merge = false, checkpoint }: MergeBody): CommitOptions {
  return { message, mergeText: merge, checkpoint }
}

function choiceOf({ path, take, text, base64 }: ResolveBody): ResolveOptions {
  const bytes = pathOf(path)
  if (take !== 'content') return { path: bytes, take }
  if ((text === undefined) === (base64 === undefined))
    throw new CairnError('invalid_argument', {
      what: 'resolve',
      reason: 'want either text or base64',
    })
  return {
    path: bytes,
    take: text === undefined ? Buffer.from(base64!, 'base64') : Buffer.from(text),
  }
}

/** One that does not begin with a slash is relative to the layer's. */
function pathOf(path: string): ByteString {
  const checked = checkPath(bytesOfText(path))
  return path.startsWith('/') ? checked : checked.slice(1)
}
