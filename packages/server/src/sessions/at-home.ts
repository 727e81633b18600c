import { decodeRequest, type SessionRequest, toFailure } from '@cairn/protocol'
import type { LeaseKeeper } from '../leases/lease-keeper.ts'
import type { RelayedRequest } from '../peers/peer-proof.ts'
import type { Peers } from '../peers/peers.ts'
import type { ClientSocket } from './connection.ts'
import { type RelayedSocket, relayConnection } from './relay.ts'
import { type ServedConnection, serveConnection, type ServeParts } from './serve-connection.ts'
import { openSessionBranch, openSessionWorkspace, type SessionCaller } from './session-branch.ts'

export interface HomeParts extends ServeParts {
  readonly peers: Peers
  readonly heartbeatMs: number
  /** Counts the relayed connections that are open. */
  readonly observeRelayed?: (change: 1 | -1) => void
}

/** A client that a server let in. */
export interface Arrived extends RelayedSocket {
  readonly connection: ClientSocket
  readonly caller: SessionCaller
  readonly request: RelayedRequest
  /** Another server relays it: its home is here, or that server would have asked there. So nothing goes in a circle. */
  readonly isRelayed: boolean
}

type Hello = Extract<SessionRequest, { type: 'hello' }>
type Served = Pick<ServedConnection, 'onMessage' | 'onClose'>

/**
 * Directories are shared at one server, the branch's home. A session that shares them is relayed there when it arrives, and served here where
 * no other server is the home, or none can be reached. That costs speed and nothing else: the lease record tells
 * whether all are at one server.
 */
export function serveAtHome(client: Arrived, parts: HomeParts): ServedConnection {
  let served: Promise<Served> | undefined
  const begin = async (first: Uint8Array): Promise<Served> => {
    const here = serveConnection(client.connection, parts, client.caller)
    const hello = sharingHello(first)
    if (!hello) return here
    const isAway = await relayHome(client, parts, hello).catch(() => undefined)
    return isAway ?? untilHomeIsElsewhere(here, client, { ...parts, hello })
  }
  return {
    onMessage: async (bytes) => (await (served ??= begin(bytes))).onMessage(bytes),
    onClose: () => void served?.then((one) => one.onClose()),
    end: (why) => {
      client.connection.send({ type: 'goodbye', ...toFailure(why) })
      client.connection.close()
    },
  }
}

/** Undefined where the session is to be served here. What is wrong with its hello is told here, too. */
async function relayHome(
  client: Arrived,
  parts: HomeParts,
  hello: Hello,
): Promise<Served | undefined> {
  if (client.isRelayed) return undefined
  const keeper = await findKeeper(client, parts, hello)
  await keeper.look()
  const peer = await parts.peers.dial(keeper.homes(hello.session), client.request)
  if (!peer) return undefined
  parts.observeRelayed?.(1)
  peer.socket.once('close', () => parts.observeRelayed?.(-1))
  return relayConnection(client, peer, parts.heartbeatMs)
}

/**
 * Two servers may take themselves for the home, when both could not reach the one before. So each of their sessions looks now and then
 * whether another server is, and comes back to be relayed there.
 */
function untilHomeIsElsewhere(
  served: Served,
  client: Arrived,
  parts: HomeParts & { readonly hello: Hello },
): Served {
  const look = async (): Promise<void> => {
    const keeper = await findKeeper(client, parts, parts.hello)
    const peer = await parts.peers.dial(keeper.homes(), client.request)
    peer?.socket.close()
    if (peer) client.socket.close(1001, 'another server is the home of the branch')
  }
  const timer = setInterval(() => void look().catch(() => undefined), parts.leaseMs).unref()
  return {
    onMessage: served.onMessage,
    onClose: () => {
      clearInterval(timer)
      served.onClose()
    },
  }
}

/** Undefined for sessions that any server serves as well: they only read, or give everything back or nothing. */
function sharingHello(first: Uint8Array): Hello | undefined {
  try {
    const hello = decodeRequest(first)
    return hello.type === 'hello' && hello.mode === 'share' ? hello : undefined
  } catch {
    return undefined
  }
}

async function findKeeper(
  { caller }: Arrived,
  { workspaces }: HomeParts,
  hello: Hello,
): Promise<LeaseKeeper> {
  const workspace = await openSessionWorkspace(workspaces, caller, hello.workspace)
  return workspace.lease(await openSessionBranch(workspace, hello.branch, caller))
}
