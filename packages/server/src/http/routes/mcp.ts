import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { media, type Route } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { schemaOf } from '../add-routes.ts'
import { ownerOf, scopeOf } from '../context.ts'
import { fetchInProcess } from '../in-process.ts'
import { objectSchema } from '../schema.ts'

interface McpQuery {
  readonly workspace?: string
  readonly layer?: string
}

const reference = { type: 'string', minLength: 1, maxLength: 256 } as const

const call: Route = {
  summary: 'The Model Context Protocol, for agents',
  query: objectSchema({ workspace: reference, layer: reference }),
  // The protocol of agents says what stands in it.
  body: {},
  answers: { 200: [{}, media('text/event-stream')], 202: null },
}
const noSessions: Route = {
  summary: 'Answers 405: there are no MCP sessions',
  answers: { 405: null },
}

/**
 * MCP over streamable HTTP. Its tools call this server's own routes with the caller's key, so each rule of access is
 * decided there and nowhere else.
 */
export function mcpRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  const access = 'workspace'
  app.post<{ Querystring: McpQuery }>(
    '/mcp',
    { config: { access, route: call }, schema: schemaOf(call) },
    async (request, reply) => answer(app, workspaces, request, reply),
  )
  // Sessions of 2025, which this server does not keep: the protocol wants 405.
  for (const method of ['GET', 'DELETE'] as const)
    app.route({
      method,
      url: '/mcp',
      config: { access, route: noSessions },
      schema: schemaOf(noSessions),
      handler: async (_request, reply) => reply.code(405).header('allow', 'POST').send(),
    })
}

async function answer(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  request: FastifyRequest<{ Querystring: McpQuery }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { handleMcpRequest } = await import('@cairn/agents/mcp')
  const { gone, headers, method, query } = request
  const scope = scopeOf(request)
  const own = scope && (await workspaces.open(ownerOf(request), scope.workspace)).info.name
  const response = await handleMcpRequest(
    {
      server: 'http://cairn.invalid',
      apiKey: headers.authorization?.replace(/^bearer +/i, '') ?? '',
      fetch: fetchInProcess(app, request),
      workspace: query.workspace ?? own,
      layer: query.layer ?? scope?.grant.layer,
      grant: scope?.grant,
    },
    new Request(`http://cairn.invalid/mcp`, { method, headers: webHeaders(headers), signal: gone }),
    { body: request.body, onerror: (error) => request.log.warn(error) },
  )
  void reply.code(response.status).headers(Object.fromEntries(response.headers))
  return reply.send(response.body ? Readable.fromWeb(response.body as NodeReadableStream) : '')
}

function webHeaders(headers: FastifyRequest['headers']): Headers {
  const web = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string') web.set(name, value)
  return web
}
