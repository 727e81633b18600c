import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborted when the client has gone: what it asked for is of no more use. */
    gone: AbortSignal
  }
}

/** Made once: each would take a stack. */
const gone = new DOMException('The client has gone', 'AbortError')

/** Watches each connection for its end. After an answer the signal aborts as well, when nothing listens any more. */
export function watchForGoneClients(app: FastifyInstance): void {
  app.decorateRequest('gone', null as unknown as AbortSignal)
  app.addHook('onRequest', async (request, reply) => {
    const closed = new AbortController()
    request.gone = closed.signal
    reply.raw.once('close', () => closed.abort(gone))
  })
}
