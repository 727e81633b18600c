import type { FastifyInstance } from 'fastify'

/**
 * What a browser may do with an answer: nothing but show or save it. Files are other people's content and come from the
 * same origin as the API, so none of them may run, be framed, or be guessed to be of another type.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

const aYear = 365 * 24 * 60 * 60

export function addSecurityHeaders(app: FastifyInstance, isTls: boolean): void {
  app.addHook('onSend', async (_request, reply) => {
    void reply.headers(securityHeaders)
    if (isTls) void reply.header('strict-transport-security', `max-age=${aYear}`)
    // A proxy must not keep what it was told for one key for another one. An ETag still saves the bytes.
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'private, no-cache')
  })
}
