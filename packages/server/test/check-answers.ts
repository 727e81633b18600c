/**
 * Loaded before every test file: each JSON answer of each server in the test's process must fit the schema of its
 * route. One that does not becomes a 500 and a line on standard error, so the test that asked fails.
 */
import { channel } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const newServers = channel('fastify.initialization')
// Several test files may run in one process.
if (!newServers.hasSubscribers) newServers.subscribe(watch)

function watch(message: unknown): void {
  const { fastify } = message as { readonly fastify: FastifyInstance }
  fastify.addHook('onSend', async (request, reply, payload) => {
    // Files and long lists are sent as streams.
    if (typeof payload === 'string' && payload !== '' && isJson(reply))
      await check(request, reply, payload)
    return payload
  })
}

function isJson(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('application/json')
}

async function check(request: FastifyRequest, reply: FastifyReply, payload: string): Promise<void> {
  const { route } = request.routeOptions.config
  // A test's own server, or a URL that is no route.
  if (!route) return
  // Most test files start no server, and need none of this.
  const { findMisfit } = await import('./find-misfit.ts')
  const misfit = findMisfit(route, reply.statusCode, JSON.parse(payload))
  if (misfit === undefined) return
  const what = `${request.method} ${request.url} answered ${reply.statusCode}: ${misfit}`
  console.error(what)
  throw new Error(what)
}
