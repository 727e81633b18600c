import type { AccessOperation } from './grant.ts'

/** What a token is to be allowed, in JSON. */
export interface TokenRequest {
  readonly name: string
  /** How long it lives. */
  readonly ttlMs: number
  readonly allow: readonly TokenRule[]
  readonly deny?: readonly string[]
  /** By id, name, tag or checkpoint. */
  readonly layer?: string
  readonly maxBytes?: number
  readonly maxFiles?: number
}

export interface TokenRule {
  readonly path: string
  readonly operations: readonly AccessOperation[]
}

/** What is known of a token. Its secret is not. */
export interface TokenInfo {
  readonly id: string
  readonly name: string
  readonly allow: readonly TokenRule[]
  readonly deny: readonly string[]
  /** A layer's id. */
  readonly layer?: string
  readonly maxBytes?: number
  readonly maxFiles?: number
  /** What it has added so far; absent where nothing is limited. */
  readonly used?: { readonly bytes: number; readonly files: number }
  readonly state: 'live' | 'expired' | 'revoked'
  /** The key that issued it. */
  readonly issuedBy: string
  readonly createdAt: string
  readonly expiresAt: string
  readonly revokedAt?: string
}

/** The one answer that has the secret. */
export interface IssuedToken extends TokenInfo {
  readonly secret: string
}
