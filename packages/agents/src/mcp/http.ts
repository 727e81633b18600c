import { createMcpHandler, InMemoryServerEventBus } from '@modelcontextprotocol/server'
import { createMcpServer } from './server.ts'
import { type McpOptions, openSite } from './site.ts'
import { subscriptionsOf } from './subscriptions.ts'
import { ResourceWatch } from './watch-resources.ts'

export interface McpHttpOptions {
  /** The body, parsed. */
  readonly body: unknown
  readonly onerror: (error: Error) => void
}

/**
 * Answers one request of streamable HTTP. Each has a handler and a bus of its own: a bus that callers share would tell
 * one of them what another one's files do.
 */
export async function handleMcpRequest(
  options: McpOptions,
  request: Request,
  { body, onerror }: McpHttpOptions,
): Promise<Response> {
  const site = openSite(options)
  const bus = new InMemoryServerEventBus(onerror)
  const watch = new ResourceWatch(site, (uri) => bus.publish({ kind: 'resource_updated', uri }))
  const handler = createMcpHandler(
    // A client of 2025 would subscribe on a session, and there is none.
    ({ era }) => createMcpServer(site, { canSubscribe: era === 'modern' }),
    { bus, onerror },
  )
  request.signal.addEventListener('abort', () => watch.close(), { once: true })
  await watch.add(subscriptionsOf(body))
  if (request.signal.aborted) watch.close()
  return handler.fetch(request, { parsedBody: body })
}
