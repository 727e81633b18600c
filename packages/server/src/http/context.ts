import type { Readable } from 'node:stream'
import type { Branch } from '@cairn/core'
import { type ActorId, CairnError } from '@cairn/protocol'
import type { FastifyRequest } from 'fastify'
import type { Asker, Workspace } from '../workspaces/workspace.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

/** What a handler works with: who asks, and what they ask about. */
export interface Target {
  readonly workspace: Workspace
  readonly branch: Branch
  readonly asker: Asker
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

interface BranchQuery {
  readonly branch?: string
}

export async function openTarget(workspaces: Workspaces, request: FastifyRequest): Promise<Target> {
  const { workspace: name } = request.params as { workspace: string }
  const workspace = await workspaces.open(ownerOf(request), name)
  const branch = await workspace.branch((request.query as BranchQuery).branch ?? 'main')
  return { workspace, branch, asker: askerOf(request) }
}

export function ownerOf(request: FastifyRequest): string {
  if (request.owner === undefined) throw new Error('a route that needs an owner is open to all')
  return request.owner
}

function askerOf(request: FastifyRequest): Asker {
  if (request.actor === undefined) throw new Error('a route that needs an actor is open to all')
  return { actor: request.actor, idempotencyKey: idempotencyKeyOf(request) }
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
export function bodyOf(request: FastifyRequest): Readable | undefined {
  return request.body as Readable | undefined
}
