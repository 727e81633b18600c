import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { request as requestHttps } from 'node:https'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Peers } from '../peers/peers.ts'
import type { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import { openTarget } from './context.ts'
import { addressOf } from './relayed.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It changes some directories of a branch: the server that has the branch's writers need ask them for no more. */
    changesDirectories?: boolean
  }
}

const connectMsMax = 2000
/** They concern one connection, and a relayed request has another one. */
const ofConnection = [
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]

/**
 * Relays changes to the home of their branch. There they wait for what the writers hold in the directories that they touch; here they
 * would wait until all writers have handed back everything. Behind the hooks that let a request in.
 */
export function relayChanges(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  peers: Peers,
): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!request.routeOptions.config.changesDirectories) return
    // The server that relayed it took this one for the home.
    if (request.relayedFor !== undefined) return
    const { authorization } = request.headers
    const address = await peers.find(await homesFor(workspaces, request), {
      address: addressOf(request),
      authorization,
    })
    if (address !== undefined) await relay(request, reply, { peers, address })
  })
}

/** What is wrong with the request its handler says. */
async function homesFor(
  workspaces: WorkspaceKeeper,
  request: FastifyRequest,
): Promise<readonly string[]> {
  try {
    const { workspace, branch } = await openTarget(workspaces, request)
    const keeper = workspace.lease(branch)
    await keeper.look()
    return keeper.homes()
  } catch {
    return []
  }
}

interface Home {
  readonly peers: Peers
  readonly address: string
}

/** Does nothing where there is no connection: nothing of the body has been taken then. */
async function relay(request: FastifyRequest, reply: FastifyReply, home: Home): Promise<void> {
  const asked = ask(request, home)
  try {
    await whenConnected(asked)
  } catch (error) {
    home.peers.noteFailure(home.address, error)
    return
  }
  reply.hijack()
  // To the client it is as if its server had gone.
  asked.on('error', () => {
    if (!reply.raw.headersSent) reply.raw.destroy()
  })
  reply.raw.once('close', () => asked.destroy())
  asked.once('response', (answer) => answerWith(reply, answer))
  if (hasBody(request.headers)) request.raw.pipe(asked)
  else asked.end()
}

function ask(request: FastifyRequest, { peers, address }: Home): ClientRequest {
  const { authorization } = request.headers
  const headers = withoutConnection(request.headers)
  const send = address.startsWith('https:') ? requestHttps : requestHttp
  return send(address, {
    method: request.method,
    // As it came, byte by byte: file names are in it.
    path: new URL(address).pathname.replace(/\/$/, '') + request.originalUrl,
    headers: {
      ...headers,
      ...peers.headersOf({ address: addressOf(request), authorization }),
      'x-request-id': request.id,
    },
    // A connection of its own: what was sent on an idle one that ends just then cannot be sent again.
    agent: false,
  })
}

function answerWith({ raw }: FastifyReply, answer: IncomingMessage): void {
  raw.writeHead(answer.statusCode!, withoutConnection(answer.headers))
  // What is cut off must not look whole.
  answer.once('error', () => raw.destroy())
  answer.pipe(raw)
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return 'content-length' in headers || 'transfer-encoding' in headers
}

function withoutConnection(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ofConnection.includes(name)),
  )
}

function whenConnected(asked: ClientRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    asked.on('error', reject)
    asked.once('socket', (socket) => {
      socket.setTimeout(connectMsMax, () => asked.destroy(new Error('no connection in time')))
      socket.once(asked.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        socket.setTimeout(0)
        resolve()
      })
    })
  })
}
