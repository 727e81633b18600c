import { isIP } from 'node:net'
import type { E2BSandboxOptions, EgressRules } from '@cairn/sandbox'
import type { ProviderConfig } from './provider-config.ts'

type Network = ProviderConfig['network']
type E2BNetwork = NonNullable<E2BSandboxOptions['network']>

const everything = '0.0.0.0/0'

/** For a jail. Its workspace is mounted from outside, so it needs no way out. Undefined: no network but its own loopback. */
export function egressOf({
  mode,
  allowDomains = [],
  allowCidrs = [],
}: Network): EgressRules | undefined {
  if (mode === 'deny-all') return undefined
  if (mode === 'allow-all') return {}
  return { deny: [everything], allow: [...allowDomains, ...allowCidrs] }
}

/**
 * For E2B. A workspace is mounted inside the machine, so its server stays reachable, and the callback of jobs with it.
 * E2B knows a name only from HTTP on port 80 and TLS on port 443: a rule that it could not keep is refused here.
 */
export function e2bNetworkOf(
  { mode, allowDomains = [], allowCidrs = [] }: Network,
  needed: readonly string[],
): E2BNetwork {
  if (mode === 'allow-all') return {}
  const own = needed.map((url) => reachableHost(url, mode))
  return { denyOut: [everything], allowOut: [...new Set([...own, ...allowDomains, ...allowCidrs])] }
}

function reachableHost(url: string, mode: string): string {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const number = Number(port || (protocol === 'https:' ? 443 : 80))
  const version = isIP(host)
  if (version === 6)
    throw new Error(
      `cannot keep network mode ${mode} at E2B: ${url} has an IPv6 address, which rules there cannot name. ` +
        'Give the server a name or an IPv4 address.',
    )
  if (version === 0 && number !== (protocol === 'https:' ? 443 : 80))
    throw new Error(
      `cannot keep network mode ${mode} at E2B: names are known there on ports 80 and 443 alone, and ${url} has ` +
        `port ${number}. The workspace would be out of reach: serve it on port 443, or name its IPv4 address.`,
    )
  return version === 0 ? host : `${host}/32`
}
