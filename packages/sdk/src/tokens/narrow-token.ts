import {
  type AccessOperation,
  type Caveat,
  encodeCaveat,
  formatToken,
  fromBase64Url,
  makeRule,
  parsePrefix,
  parseToken,
  toBase64Url,
  tokenCharactersMax,
} from '@cairn/protocol'
import { CairnError } from '../client/error.ts'

export interface NarrowOptions {
  /** Allow only this, of what the token allows now. */
  readonly allow?:
    | readonly { readonly path: string; readonly operations: readonly AccessOperation[] }[]
    | undefined
  readonly deny?: readonly string[] | undefined
  /** A layer's id, for a token that is not bound to one. */
  readonly layer?: string | undefined
  /** From now on; earlier than what it has already, or nothing changes. */
  readonly ttlMs?: number | undefined
  readonly maxBytes?: number | undefined
  readonly maxFiles?: number | undefined
}

/**
 * A weaker token from a token, without asking the server. It ends with the one it was made from, and what both add
 * counts together.
 *
 * @example
 * ```ts
 * const readOnly = await narrowToken(secret, { allow: [{ path: '/repo', operations: ['read', 'list'] }] })
 * ```
 */
export async function narrowToken(secret: string, options: NarrowOptions): Promise<string> {
  const token = parseToken(secret)
  if (!token) throw refuse('it is none', 'Give a token as it was issued; keys cannot be narrowed.')
  const caveat = encodeCaveat(caveatOf(options))
  const signature = await sign(fromBase64Url(token.signature)!, caveat)
  const caveats = [...token.caveats, caveat]
  const narrowed = formatToken({ ...token, caveats, signature: toBase64Url(signature) })
  if (narrowed.length <= tokenCharactersMax && parseToken(narrowed)) return narrowed
  throw refuse('it has been narrowed too often', 'Ask the owner for another one.')
}

function caveatOf({ allow, deny, layer, ttlMs, maxBytes, maxFiles }: NarrowOptions): Caveat {
  return {
    ...(allow && { rules: allow.map(({ path, operations }) => makeRule(path, operations)) }),
    ...(deny && { deny: deny.map(parsePrefix) }),
    ...(layer === undefined ? {} : { layer }),
    ...(ttlMs === undefined ? {} : { notAfterMs: Date.now() + ttlMs }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(maxFiles === undefined ? {} : { maxFiles }),
  }
}

/** HMAC-SHA-256 with the previous signature as its key, so a caveat cannot be removed. */
async function sign(before: Uint8Array, caveat: string): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = Uint8Array.from(before)
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(caveat)))
}

function refuse(reason: string, hint: string): CairnError {
  return new CairnError('invalid_argument', { what: 'narrow the token', reason, hint })
}
