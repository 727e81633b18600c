import type { Branch } from '@cairn/core'
import {
  type ActorId,
  CairnError,
  decodeRequest,
  type SessionRequest,
  sessionVersion,
  toFailure,
} from '@cairn/protocol'
import type { Scope } from '../access/access.ts'
import { findScopedLayer } from '../layers/scoped-layers.ts'
import { SessionScope } from '../access/session-scope.ts'
import { findLayer } from '../points/references.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { workspaceMissing, type WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import type { ClientSocket } from './connection.ts'
import type { MessagePieces } from './message-pieces.ts'
import { PastSession } from './past-session.ts'
import { Session } from './session.ts'

export interface ServeParts {
  readonly workspaces: WorkspaceKeeper
  readonly leaseMs: number
  /** Shared by all connections of a server. */
  readonly pieces: MessagePieces
}

/** Whom a connection belongs to. */
export interface SessionCaller {
  readonly id: string
  readonly owner: string
  /** Set when the caller is a token. */
  readonly scope?: Scope
}

/** What a carrier of messages calls. */
export interface ServedConnection {
  /** Resolves when the message is dealt with, whatever came of it. */
  onMessage(bytes: Uint8Array): Promise<void>
  /** Called once, whichever end closed it. */
  onClose(): void
  /** Ends it for that reason. */
  readonly end: (why: unknown) => void
}

interface OpenSession {
  handle(request: SessionRequest): Promise<void>
  /** `drained` when the other end has said goodbye. */
  close(drained: boolean): Promise<void>
}

/** Lives one connection's life: hello first, then whatever the session is asked. */
export function serveConnection(
  connection: ClientSocket,
  parts: ServeParts,
  caller: SessionCaller,
): ServedConnection {
  let session: Promise<OpenSession> | undefined
  const fail = (error: unknown): void => {
    connection.send({ type: 'goodbye', ...toFailure(error) })
    connection.close()
  }
  return {
    onMessage: async (bytes) => {
      try {
        if (!session) return void (await (session = openSession(connection, parts, caller, bytes)))
        const open = await session
        await receive(decodeRequest(bytes), open, { connection, parts, caller })
      } catch (error) {
        fail(error)
      }
    },
    // Without a goodbye its place is kept for the lease time: it may only have lost the network.
    onClose: () => void session?.then((open) => open.close(false)).catch(() => undefined),
    end: fail,
  }
}

interface Served {
  readonly connection: ClientSocket
  readonly parts: ServeParts
  readonly caller: SessionCaller
}

/** A piece counts when the message is there. Sessions of the past are told nothing large. */
async function receive(
  request: SessionRequest,
  open: OpenSession,
  { connection, parts, caller }: Served,
): Promise<void> {
  if (request.type !== 'piece' || !(open instanceof Session)) return open.handle(request)
  const { message } = request
  const { bytes, whole } = parts.pieces.take({ owner: caller.owner, session: open.id }, request)
  connection.send({ type: 'arrived', message, bytes })
  if (whole) await open.handle(decodeRequest(whole))
}

async function openSession(
  connection: ClientSocket,
  { workspaces, leaseMs }: ServeParts,
  caller: SessionCaller,
  bytes: Uint8Array,
): Promise<OpenSession> {
  const hello = decodeRequest(bytes)
  if (hello.type !== 'hello' && hello.type !== 'revisit')
    throw new CairnError('malformed', { what: 'begin', reason: 'want hello first' })
  requireVersion(hello.version)
  const { owner, scope: allowed } = caller
  const workspace = await workspaces.open(owner, hello.workspace)
  if (allowed && allowed.workspace !== workspace.info.id) throw workspaceMissing(hello.workspace)
  const scope = allowed && new SessionScope(allowed, workspace.notes, () => workspace.clock.nowMs())
  if (hello.type === 'revisit')
    return PastSession.open({ workspace, scope, leaseMs }, connection, hello)
  const branch = await openBranch(workspace, hello.branch, allowed)
  const keeper = workspace.lease(branch)
  const parts = { workspace, branch, keeper, actor: caller.id as ActorId, leaseMs }
  return Session.open(scope ? { ...parts, scope } : parts, connection, hello)
}

function requireVersion(version: number): void {
  if (version === sessionVersion) return
  throw new CairnError('unsupported_version', {
    what: `speak version ${version} of the session protocol`,
    reason: `this server has ${sessionVersion}`,
  })
}

/** Other than a branch of that name, a layer that is so called: by its tag, say. */
async function openBranch(
  workspace: OpenWorkspace,
  name: string,
  scope: Scope | undefined,
): Promise<Branch> {
  // A token that is bound to a layer and names none means that one.
  const meant = name === 'main' ? (scope?.grant.layer ?? name) : name
  if (meant === 'main') return workspace.branch(meant)
  const { branch, checkpoint } = await (scope
    ? findScopedLayer(workspace, scope, meant)
    : findLayer(workspace, meant))
  if (!checkpoint) return branch
  throw new CairnError('read_only', {
    what: `open a session at checkpoint '${name}'`,
    reason: 'a checkpoint does not change',
    subject: name,
  })
}
