import { scopedView, type View } from '@cairn/core'
import { CairnError } from '@cairn/protocol'
import type { FastifyRequest } from 'fastify'
import type { Access, Scope } from '../access/access.ts'
import { findScopedPoint } from '../layers/scoped-layers.ts'
import { readPoint } from '../points/read-point.ts'
import { findPoint, type Point, type PointQuery } from '../points/references.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { workspaceMissing, type WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import type { Body } from './body.ts'
import { toolCallOf } from './tool-call.ts'

/** What a handler works with: who asks, and what they ask about. With a snapshot, that instead of the branch's head. */
export interface Target extends Point {
  readonly workspace: OpenWorkspace
  readonly asker: Asker
}

declare module 'fastify' {
  interface FastifySchema {
    readonly summary?: string
  }

  interface FastifyRequest {
    /** Set once the key has been checked. */
    access: Access | undefined
  }
}

export async function openTarget(
  workspaces: WorkspaceKeeper,
  request: FastifyRequest,
): Promise<Target> {
  const workspace = await openWorkspace(workspaces, request)
  const asker = askerOf(request)
  const query = request.query as PointQuery
  requireOnePoint(query, asker)
  const point = await (asker.scope
    ? findScopedPoint(workspace, asker.scope, query)
    : findPoint(workspace, query))
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (point.snapshot && !isRead)
    throw new CairnError('read_only', {
      what: 'write to a checkpoint or a side of a conflict',
      reason: 'a checkpoint does not change',
    })
  // A write finds out by itself whether what it saw is old.
  if (isRead && workspace.isShared && !point.snapshot) await point.branch.refresh()
  return { workspace, ...point, asker }
}

/** A request that names two points is refused: either could be the one that was meant. */
export function requireOnePoint({ branch, layer, at, side }: PointQuery, { scope }: Asker): void {
  if (side === undefined) return
  if (at !== undefined)
    throw new CairnError('invalid_argument', {
      what: 'read a side at a checkpoint',
      reason: 'sides are of now; give at or side',
      subject: 'side',
    })
  if ((layer ?? branch ?? scope?.grant.layer ?? 'main') === 'main')
    throw new CairnError('invalid_argument', {
      what: `read the side '${side}' of main`,
      reason: 'only a layer has sides; name the layer',
      subject: 'side',
    })
}

/** For what has a place in the log: a side, or what a layer stands on, is a tree and has none. */
export function requireHistory({ snapshot, seq }: Point, verb: string): void {
  if (!snapshot || seq !== undefined) return
  throw new CairnError('invalid_argument', {
    what: `${verb} at 'base' or at a side of a conflict`,
    reason: 'they are trees without a log; ask the layer or its parent',
  })
}

/** Reads what the request is about. */
export function readTarget<T>(target: Target, read: (view: View) => T): Promise<T> {
  const { workspace, asker } = target
  const seen = (view: View): View => (asker.scope ? scopedView(view, asker.scope.grant) : view)
  return readPoint(workspace, target, (view) => read(seen(view)))
}

/** The one in the URL. For a token there is no other than its own. */
export async function openWorkspace(
  workspaces: WorkspaceKeeper,
  request: FastifyRequest,
): Promise<OpenWorkspace> {
  const { workspace: name } = request.params as { workspace: string }
  const workspace = await workspaces.open(ownerOf(request), name)
  const scope = scopeOf(request)
  if (scope && scope.workspace !== workspace.info.id) throw workspaceMissing(name)
  return workspace
}

export function ownerOf(request: FastifyRequest): string {
  return accessOf(request).owner
}

/** Undefined for an owner. */
export function scopeOf(request: FastifyRequest): Scope | undefined {
  return accessOf(request).scope
}

export function askerOf(request: FastifyRequest): Asker {
  const { actor, scope } = accessOf(request)
  const asker = {
    actor,
    idempotencyKey: idempotencyKeyOf(request),
    print: request.print,
    toolCall: toolCallOf(request),
    gone: request.gone,
  }
  return scope ? { ...asker, scope } : asker
}

function accessOf({ access }: FastifyRequest): Access {
  if (!access) throw new Error('a route that asks who asks is open to all')
  return access
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x21-\x7e]{1,128}$/.test(key)) return key
  throw new CairnError('invalid_argument', {
    what: 'take the Idempotency-Key',
    reason: 'want 1 to 128 visible ASCII characters',
  })
}

/** The body as it comes. Parsing is the routes' business: a JSON file that is uploaded is not a request. */
export function bodyOf(request: FastifyRequest): Body | undefined {
  return request.body as Body | undefined
}
