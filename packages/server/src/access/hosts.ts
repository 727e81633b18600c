import type { IncomingHttpHeaders } from 'node:http'
import { CairnError } from '@cairn/protocol'

/** Refuses a request by throwing; see `loopbackHosts`. */
export type RequireHost = (headers: IncomingHttpHeaders) => void

const loopbackName =
  /^(?:localhost|[a-z0-9.-]+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/i

export function isLoopback(host: string): boolean {
  return loopbackName.test(host.includes(':') ? `[${host}]` : host)
}

/**
 * The rule of a server that listens on loopback: only programs of this machine may talk to it. A web page can, too, by a
 * name of its own that resolves to 127.0.0.1; but then the browser says that name in `Host`, or where the page is from in
 * `Origin`. `names` are further ones that it is reached by, such as that of a tunnel.
 */
export function loopbackHosts(names: readonly string[]): RequireHost {
  const known = new Set(names.map((name) => name.toLowerCase()))
  const isKnown = (name: string): boolean =>
    loopbackName.test(name) || known.has(name.toLowerCase())
  return ({ host, origin }) => {
    if (host !== undefined && !isKnown(withoutPort(host))) throw refused('host', withoutPort(host))
    if (origin !== undefined && !isKnown(hostOf(origin))) throw refused('origin', origin)
  }
}

function refused(what: 'host' | 'origin', value: string): CairnError {
  return new CairnError('host_refused', {
    what: `answer for the ${what} '${value.slice(0, 200)}'`,
    reason: `the server answers to names of its own machine only, and the ${what} is '${value.slice(0, 200)}'`,
    subject: value.slice(0, 200),
  })
}

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '')
}

/** Empty for `null`, which is what a browser says of pages from nowhere. */
function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : ''
}
