import { type Branch, type Snapshot, TreeView, type View } from '@cairn/core'
import { type ActorId, CairnError } from '@cairn/protocol'
import type { FastifyRequest } from 'fastify'
import { findPoint, type PointQuery } from '../layers/references.ts'
import type { Asker, Workspace } from '../workspaces/workspace.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import type { Body } from './body.ts'
import { toolCallOf } from './tool-call.ts'

/** What a handler works with: who asks, and what they ask about. */
export interface Target {
  readonly workspace: Workspace
  readonly branch: Branch
  readonly asker: Asker
  /** To be read instead of the branch's head: a checkpoint, or a side of a conflict. */
  readonly snapshot?: Snapshot
}

declare module 'fastify' {
  interface FastifySchema {
    readonly summary?: string
  }

  interface FastifyRequest {
    /** Set once the key has been checked. */
    actor: ActorId | undefined
    owner: string | undefined
  }
}

export async function openTarget(workspaces: Workspaces, request: FastifyRequest): Promise<Target> {
  const { workspace: name } = request.params as { workspace: string }
  const workspace = await workspaces.open(ownerOf(request), name)
  const point = await findPoint(workspace, request.query as PointQuery)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (point.snapshot && !isRead)
    throw new CairnError('read_only', {
      message: 'cannot write to a checkpoint or a side of a conflict: they are the past',
    })
  // A write finds out by itself whether what it saw is old.
  if (isRead && workspace.isShared && !point.snapshot) await point.branch.refresh()
  return { workspace, ...point, asker: askerOf(request) }
}

/** Reads what the request is about. */
export function readTarget<T>(target: Target, read: (view: View) => T): Promise<T> {
  const { workspace, branch, snapshot } = target
  if (!snapshot) return workspace.read(branch, read)
  const { nodes } = workspace.stores
  return nodes.read(() => read(new TreeView(nodes, snapshot)))
}

export function ownerOf(request: FastifyRequest): string {
  if (request.owner === undefined) throw new Error('a route that needs an owner is open to all')
  return request.owner
}

export function askerOf(request: FastifyRequest): Asker {
  if (request.actor === undefined) throw new Error('a route that needs an actor is open to all')
  const toolCall = toolCallOf(request)
  return { actor: request.actor, idempotencyKey: idempotencyKeyOf(request), toolCall }
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x21-\x7e]{1,128}$/.test(key)) return key
  throw new CairnError('malformed', {
    message: 'cannot take the Idempotency-Key: want 1 to 128 visible ASCII characters',
  })
}

/** The body as it comes. Parsing is the routes' business: a JSON file that is uploaded is not a request. */
export function bodyOf(request: FastifyRequest): Body | undefined {
  return request.body as Body | undefined
}
