import type { Usage } from '@cairn/core'

/** What is stored of a token. Nothing of it opens anything. */
export interface TokenRecord {
  readonly id: string
  readonly owner: string
  /** By id. */
  readonly workspace: string
  readonly name: string
  /** What it was issued for, as its text has it. */
  readonly caveat: string
  /** SHA-256 of its first signature. */
  readonly signatureHash: Uint8Array
  readonly issuedBy: string
  readonly createdMs: number
  readonly expiresMs: number
  readonly revokedMs: number | undefined
  /** What it has added, all that were narrowed from it together. */
  readonly used: Usage
}

/** Where tokens are written down. */
export interface TokenStore {
  /** Resolves once it is on disk. Rejects with `storage_unavailable`; an id is never taken, being random. */
  create(token: TokenRecord): Promise<void>
  find(id: string): Promise<TokenRecord | undefined>
  /** In the byte order of ids, after that one. */
  list(workspace: string, after: string | undefined, limit: number): Promise<readonly TokenRecord[]>
  /** All that have the name. */
  findByName(workspace: string, name: string): Promise<readonly TokenRecord[]>
  /** Those of them that exist: one question for all live sessions. */
  findAll(ids: readonly string[]): Promise<readonly TokenRecord[]>
  /** False when there is none, or when it is revoked already: the first time stands. */
  revoke(id: string, revokedMs: number): Promise<boolean>
  /** False when there is none, or when it is revoked: that is for ever. */
  extend(id: string, expiresMs: number): Promise<boolean>
  /** Adds to what it has used, whatever else does at the same time. */
  charge(id: string, added: Usage): Promise<void>
}
