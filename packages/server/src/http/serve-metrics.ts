import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from '../metrics.ts'
import { securityHeaders } from './security-headers.ts'

export interface MetricsServer {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Metrics at an address of their own, for a collector that has no key. */
export async function serveMetrics(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const isKnown = request.method === 'GET' && request.url === '/metrics'
    if (!isKnown) return void response.writeHead(404, securityHeaders).end()
    metrics.tell().then(
      ({ type, text }) =>
        response.writeHead(200, { ...securityHeaders, 'content-type': type }).end(text),
      () => response.writeHead(500, securityHeaders).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
