import {
  type ActorId,
  CairnError,
  decodeRequest,
  type SessionRequest,
  sessionVersion,
  toFailure,
} from '@cairn/protocol'
import { SessionScope } from '../access/session-scope.ts'
import type { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import type { ClientSocket } from './connection.ts'
import type { MessagePieces } from './message-pieces.ts'
import { PastSession } from './past-session.ts'
import { Session } from './session.ts'
import { openSessionBranch, openSessionWorkspace, type SessionCaller } from './session-branch.ts'

export interface ServeParts {
  readonly workspaces: WorkspaceKeeper
  readonly leaseMs: number
  /** Shared by all connections of a server. */
  readonly pieces: MessagePieces
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
  const { scope: allowed } = caller
  const workspace = await openSessionWorkspace(workspaces, caller, hello.workspace)
  const scope = allowed && new SessionScope(allowed, workspace.notes, () => workspace.clock.nowMs())
  if (hello.type === 'revisit')
    return PastSession.open({ workspace, scope, leaseMs }, connection, hello)
  const branch = await openSessionBranch(workspace, hello.branch, caller)
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
