import { type AccessOperation, allowsSomewhere, CairnError, isCairnError } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import type { Access } from '../access/access.ts'
import type { Authenticator } from '../access/authenticator.ts'
import type { AccessWatch } from '../access/access-watch.ts'
import { addressOf } from './relayed.ts'

/**
 * Who may use a route: everybody; keys of owners alone; or tokens, too. For those, either what it tells is of their
 * workspace and of no path, or it is about paths and takes one of these operations there, which its handler asks.
 */
export type RouteAccess = 'open' | 'owner' | 'workspace' | readonly AccessOperation[]

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: RouteAccess
    /** It ends by itself, in its own way, when its token or key is over. */
    watchesAccess?: boolean
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
    const { headers, url } = request
    const address = addressOf(request)
    // Git sends a user and a password, and only when it is asked for them.
    const isGit = url.startsWith('/git/')
    const shown = isGit ? bearerOf(headers.authorization) : headers.authorization
    try {
      request.access = await authenticator.authenticate(shown, address)
    } catch (error) {
      if (isGit) void reply.header('www-authenticate', 'Basic realm="cairn"')
      if (isCairnError(error, 'too_many_attempts'))
        void reply.header('retry-after', Math.ceil(authenticator.attempts.waitMs(address) / 1000))
      throw error
    }
    requireRule(request.access, rule)
  })
}

/** The key is the password; the user's name may be anything. */
function bearerOf(authorization: string | undefined): string | undefined {
  const encoded = /^Basic (\S+)$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return authorization
  const pair = Buffer.from(encoded, 'base64').toString()
  return `Bearer ${pair.slice(pair.indexOf(':') + 1)}`
}

/** A request ends with its token or key, whatever it is at: a long download, a body that comes slowly. */
export function endWithAccess(app: FastifyInstance, watch: AccessWatch): void {
  app.addHook('onRequest', async ({ access, raw, routeOptions }, reply) => {
    if (!access || routeOptions.config.watchesAccess) return
    const stop = watch.add(access, () => raw.socket.destroy())
    reply.raw.once('close', stop)
  })
}

/** The first sieve: what the token allows nowhere, and what no token does. Whether there is such a thing is not told. */
function requireRule({ scope }: Access, rule: RouteAccess | undefined): void {
  if (!scope || rule === undefined || rule === 'workspace' || rule === 'open') return
  if (rule === 'owner')
    throw new CairnError('forbidden', {
      what: 'do this with a token',
      reason: "it takes an owner's key",
    })
  if (rule.some((operation) => allowsSomewhere(scope.grant, operation))) return
  throw new CairnError('forbidden', {
    what: 'do this',
    reason: `the token allows ${rule.join(' or ')} nowhere`,
  })
}
