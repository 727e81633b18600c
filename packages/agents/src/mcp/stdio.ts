import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Server, Transport } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createMcpServer } from './server.ts'
import { type McpOptions, openSite } from './site.ts'
import { subscriptionsOf } from './subscriptions.ts'
import { ResourceWatch } from './watch-resources.ts'

export interface StdioOptions {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly signal: AbortSignal
  readonly onerror: (error: Error) => void
}

/** Serves one client over standard input and output until either end closes. */
export async function serveMcpStdio(options: McpOptions, streams: StdioOptions): Promise<void> {
  const { stdin, stdout, signal, onerror } = streams
  const site = openSite(options)
  let server: Server | undefined
  const watch = new ResourceWatch(site, (uri) => {
    void server?.sendResourceUpdated({ uri }).catch(onerror)
  })
  const inner = new StdioServerTransport(stdin, stdout)
  const { transport, closed } = noting(inner, (message) => {
    const uris = subscriptionsOf(message)
    return uris.length === 0 ? undefined : watch.add(uris)
  })
  const handle = serveStdio(
    () => {
      server = createMcpServer(site, { canSubscribe: true })
      takeSubscriptions(server, watch)
      return server
    },
    { transport, onerror },
  )
  const stop = (): void => void handle.close().catch(onerror)
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (signal.aborted) stop()
    await closed
  } finally {
    signal.removeEventListener('abort', stop)
    watch.close()
  }
}

/** For clients of 2025; newer ones send `subscriptions/listen`, which the SDK answers by itself. */
function takeSubscriptions(server: Server, watch: ResourceWatch): void {
  server.setRequestHandler('resources/subscribe', async ({ params }) => {
    await watch.add([params.uri])
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    watch.remove(params.uri)
    return {}
  })
}

/** The same transport, with each message that arrives shown to `note`, and kept back while that takes. */
function noting(
  inner: Transport,
  note: (message: JSONRPCMessage) => Promise<void> | undefined,
): { transport: Transport; closed: Promise<void> } {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const transport: Transport = {
    start: () => {
      inner.onmessage = (message, extra) => {
        const forward = (): void => transport.onmessage?.(message, extra)
        const noted = note(message)
        if (noted === undefined) forward()
        else void noted.then(forward)
      }
      inner.onerror = (error) => transport.onerror?.(error)
      inner.onclose = () => {
        transport.onclose?.()
        resolve()
      }
      return inner.start()
    },
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  }
  return { transport, closed }
}
