import type { EgressRules } from '../../jail/jail.ts'
import { ApiError } from '../api-error.ts'
import type { NetworkRules, SandboxRecord } from './record.ts'

const everywhere = ['0.0.0.0/0', '::/0']
const isEverywhere = (rule: string): boolean => everywhere.includes(rule)

/**
 * E2B's rules in the jail's words. There, everything means the internet; a jail that is allowed all addresses could also
 * reach this machine's own services, so such a rule only takes the denials away.
 */
export function egressOf({
  network,
  allowInternetAccess,
}: Pick<SandboxRecord, 'network' | 'allowInternetAccess'>): EgressRules {
  const { allowOut = [], denyOut = [] } = network
  const allow = allowOut.filter((rule) => !isEverywhere(rule))
  if (allow.length < allowOut.length) return { allow, deny: [] }
  const deniesAll = allowInternetAccess === false || denyOut.some(isEverywhere)
  return { allow, deny: deniesAll ? [...new Set([...denyOut, ...everywhere])] : denyOut }
}

const address = /^[0-9a-f:.]+(?:\/\d+)?$/i

/** The rules of a request; `invalid` where they could not be kept. */
export function parseNetwork(value: unknown): NetworkRules {
  const given = (value ?? {}) as Readonly<Record<string, unknown>>
  const allowOut = texts(given['allowOut'], 'allowOut')
  const denyOut = texts(given['denyOut'], 'denyOut')
  for (const rule of denyOut)
    if (!address.test(rule))
      throw new ApiError(400, `cannot deny ${rule}: only addresses and CIDR blocks can be denied`)
  if (allowOut.some((rule) => !address.test(rule)) && !denyOut.includes('0.0.0.0/0'))
    throw new ApiError(400, "domains in allowOut need '0.0.0.0/0' (ALL_TRAFFIC) in denyOut")
  for (const name of ['rules', 'egressProxy'])
    if (given[name] !== undefined && Object.keys(given[name] as object).length > 0)
      throw new ApiError(400, `network.${name} is not supported by this server`)
  return {
    ...(allowOut.length > 0 ? { allowOut } : {}),
    ...(denyOut.length > 0 ? { denyOut } : {}),
    ...(given['allowPublicTraffic'] === false ? { allowPublicTraffic: false } : {}),
    ...(typeof given['maskRequestHost'] === 'string'
      ? { maskRequestHost: given['maskRequestHost'] }
      : {}),
  }
}

function texts(value: unknown, name: string): string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value
  throw new ApiError(400, `network.${name} must be a list of texts`)
}
