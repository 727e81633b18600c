import type { TokenInfo } from '@cairn/sdk'
import { formatQuota } from '../layers/quota.ts'
import { absoluteTime } from '../output/relative-time.ts'

/** `/repo/src:read,list` for each, then `!/repo/src/secret` for what is denied. */
export function formatGrant({ allow, deny }: Pick<TokenInfo, 'allow' | 'deny'>): string {
  return [
    ...allow.map(({ path, operations }) => `${path}:${operations.join()}`),
    ...deny.map((path) => `!${path}`),
  ].join(' ')
}

/**
 * What a token can do, as a sentence: `it can read, list and write /repo (and remove only what it creates)`.
 */
export function sayGrant({
  allow,
  deny,
  layer,
}: Pick<TokenInfo, 'allow' | 'deny' | 'layer'>): string {
  const can = allow.map(({ path, operations }) => {
    const isKept = operations.includes('write') && !operations.includes('delete')
    const kept = isKept ? ' (and remove only what it creates)' : ''
    return `${inWords(operations)} ${path}${kept}`
  })
  const inside = layer === undefined ? '' : `, in layer ${layer} alone`
  const denied = deny.length === 0 ? '' : `; nothing in ${inWords(deny)}`
  return `it can ${can.join('; ')}${inside}${denied}`
}

function inWords(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}

/** One line for each thing that is known. */
export function describeToken(token: TokenInfo): string[][] {
  const { maxBytes, maxFiles } = token
  const isLimited = maxBytes !== undefined || maxFiles !== undefined
  const quota = {
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(maxFiles === undefined ? {} : { maxFiles }),
  }
  return [
    ['name:', token.name],
    ['id:', token.id],
    ['state:', token.state],
    ['allows:', formatGrant(token)],
    ...(token.layer === undefined ? [] : [['layer:', token.layer]]),
    ...(isLimited ? [['added:', formatQuota(quota, token.used)]] : []),
    ['issued:', `${absoluteTime(token.createdAt)} by ${token.issuedBy}`],
    ['until:', absoluteTime(token.expiresAt)],
    ...(token.revokedAt === undefined ? [] : [['revoked:', absoluteTime(token.revokedAt)]]),
  ]
}
