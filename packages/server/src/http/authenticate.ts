import { type AccessOperation, allowsSomewhere, CairnError, isCairnError } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import type { Access } from '../access/access.ts'
import type { Authenticator } from '../access/authenticator.ts'
import type { TokenWatch } from '../access/token-watch.ts'

/**
 * Who may use a route: everybody; keys of owners alone; or tokens, too. For those, either what it tells is of their
 * workspace and of no path, or it is about paths and takes one of these operations there, which its handler asks.
 */
export type RouteAccess = 'open' | 'owner' | 'workspace' | readonly AccessOperation[]

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: RouteAccess
    /** It ends by itself, in its own way, when its token is over. */
    watchesToken?: boolean
  }
}

/** Every route says who may use it, or the server does not start. */
export function requireAccess(app: FastifyInstance, authenticator: Authenticator): void {
  app.decorateRequest('access', undefined)
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.access === undefined)
      throw new Error(`route ${String(method)} ${url} does not say who may use it: config.access`)
  })
  app.addHook('onRequest', async (request, reply) => {
    const { access: rule } = request.routeOptions.config
    if (rule === 'open') return
    const { headers, ip } = request
    try {
      request.access = await authenticator.authenticate(headers.authorization, ip)
    } catch (error) {
      if (isCairnError(error, 'too_many_attempts'))
        void reply.header('retry-after', Math.ceil(authenticator.attempts.waitMs(ip) / 1000))
      throw error
    }
    requireRule(request.access, rule)
  })
}

/** Whatever a request under a token is at, it goes no further than its token: a long download, a body that comes slowly. */
export function endWithToken(app: FastifyInstance, watch: TokenWatch): void {
  app.addHook('onRequest', async ({ access, raw, routeOptions }, reply) => {
    if (!access?.scope || routeOptions.config.watchesToken) return
    const stop = watch.add(access.scope, () => raw.socket.destroy())
    reply.raw.once('close', stop)
  })
}

/** The first sieve: what the token allows nowhere, and what no token does. Whether there is such a thing is not told. */
function requireRule({ scope }: Access, rule: RouteAccess | undefined): void {
  if (!scope || rule === undefined || rule === 'workspace' || rule === 'open') return
  if (rule === 'owner')
    throw new CairnError('forbidden', {
      message: "cannot do this with a token: it takes an owner's key",
    })
  if (rule.some((operation) => allowsSomewhere(scope.grant, operation))) return
  throw new CairnError('forbidden', {
    message: `cannot do this: it takes ${rule.join(' or ')}, which the token allows nowhere`,
  })
}
