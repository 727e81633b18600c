import { LayerConflictError } from '@cairn/core'
import { type AccessOperation, type ByteString, CairnError } from '@cairn/protocol'
import { type AnswerOf, layerChangeRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import type { Scope } from '../../access/access.ts'
import { findScopedLayer, requireLayer, requireUnbound } from '../../layers/scoped-layers.ts'
import { RefusedMergeError } from '../../points/errors.ts'
import { abandon, reopen } from '../../layers/layers.ts'
import { commit, type CommitRequest, rebase, tryCommit } from '../../merging/commit-and-rebase.ts'
import { pick, tryPick } from '../../merging/pick.ts'
import { resolve, type ResolveOptions } from '../../merging/resolve.ts'
import { rollBack, type RollbackTarget, undo } from '../../merging/rollbacks.ts'
import { isoTime } from '../../ports/clock.ts'
import type { OpenWorkspace } from '../../workspaces/open-workspace.ts'
import type { Asker } from '../../workspaces/path-changes.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf, type RequestOf } from '../add-routes.ts'
import { checkPath, bytesOfText } from '../raw-path.ts'
import { openWholeLayer } from './layers.ts'

type Paths<Key extends string> = Key extends `POST ${string}/:layer/${infer Verb}` ? Verb : never
type Verb = Paths<keyof typeof table>
type KeyOf<V extends Verb> = `POST /v1/workspaces/:workspace/layers/:layer/${V}`
type BodyOf<V extends Verb> = RequestOf<(typeof table)[KeyOf<V>]>['body']

/** Everything that is done to a layer as a whole. */
export function layerChangeRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  mergeRoutes(app, workspaces)
  const add = changeAdder(app, workspaces)
  add('abandon', 'write', abandon)
  add('reopen', 'write', reopen)
  add('rollback', 'write', (workspace, asker, layer, body) =>
    rollBack(workspace, asker, layer, requireOneTarget(body)),
  )
  add('undo', 'write', undo)
}

function mergeRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  const add = changeAdder(app, workspaces)
  add('rebase', 'write', (workspace, asker, layer, body) =>
    rebase(workspace, asker, layer, optionsOf(body)),
  )
  add('resolve', 'write', (workspace, asker, layer, body) =>
    resolve(workspace, asker, layer, choiceOf(body)),
  )
  add('commit', 'commit', (workspace, asker, layer, body) =>
    (body.dryRun === true ? tryCommit : commit)(workspace, asker, layer, optionsOf(body)),
  )
  add('pick', 'commit', async (workspace, asker, layer, body) => {
    if (asker.scope) await requireSiblings(workspace, asker.scope, layer)
    return (body.dryRun === true ? tryPick : pick)(workspace, asker, layer, optionsOf(body))
  })
}

type Run<V extends Verb> = (
  workspace: OpenWorkspace,
  asker: Asker,
  layer: string,
  body: BodyOf<V>,
) => Promise<AnswerOf<(typeof table)[KeyOf<V>]>>

/** A token must allow the operation for all of the layer's path. */
function changeAdder(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
): <V extends Verb>(verb: V, operation: AccessOperation, run: Run<V>) => void {
  return (verb, operation, run) => {
    const key: KeyOf<typeof verb> = `POST /v1/workspaces/:workspace/layers/:layer/${verb}`
    adderOf(app, table)(key, { access: [operation] }, async (request) => {
      const { workspace, asker, layer } = await openWholeLayer(workspaces, request, operation)
      try {
        return await run(workspace, asker, layer, request.body)
      } catch (error) {
        if (!(error instanceof LayerConflictError)) throw error
        throw new RefusedMergeError(error, asker.actor, isoTime(workspace.clock.now()))
      }
    })
  }
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
async function requireSiblings(
  workspace: OpenWorkspace,
  scope: Scope,
  layer: string,
): Promise<void> {
  requireUnbound(scope)
  const { record } = await findScopedLayer(workspace, scope, layer)
  if (record) await requireLayer(workspace, scope, record.parent, 'commit')
}

function optionsOf({ message = '', merge = false, checkpoint }: BodyOf<'commit'>): CommitRequest {
  return { message, mergeText: merge, checkpoint }
}

function choiceOf({ path, take, text, base64 }: BodyOf<'resolve'>): ResolveOptions {
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
