import { BlockList, isIP } from 'node:net'

/** Addresses that mean something else, or nothing, to a machine elsewhere. */
const near = new BlockList()
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  near.addSubnet(address, bits)
near.addAddress('::1', 'ipv6')
near.addSubnet('fc00::', 7, 'ipv6')
near.addSubnet('fe80::', 10, 'ipv6')

interface Place {
  /** The options of the sandbox; the environment is read where they say nothing. */
  readonly apiUrl?: string | undefined
  readonly domain?: string | undefined
}

/**
 * Why a machine at E2B cannot reach this server; undefined if it may. Asked before a machine is
 * paid for: from inside, the address is merely one that does not answer.
 */
export function whyOutOfReach(
  server: string,
  { apiUrl, domain }: Place,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const api =
    apiUrl ?? env['E2B_API_URL'] ?? `https://api.${domain ?? env['E2B_DOMAIN'] ?? 'e2b.app'}`
  // A server that speaks E2B on this machine or in this network can have its own ways.
  if (isNear(new URL(api).hostname) || !isNear(new URL(server).hostname)) return undefined
  return (
    `a sandbox at E2B cannot reach ${server}, which is an address of this machine or its network. ` +
    'Give the server an address on the internet, or open a tunnel to it, and pass that address as `serverInside` ' +
    '(docs/guides/e2b.md, "A server on your laptop")'
  )
}

function isNear(name: string): boolean {
  const host = name.replace(/^\[(.*)\]$/, '$1')
  const version = isIP(host)
  if (version !== 0) return near.check(host, version === 4 ? 'ipv4' : 'ipv6')
  return !host.includes('.') || /\.(?:localhost|local|internal|lan|home\.arpa)$/.test(host)
}
