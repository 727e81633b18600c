/** The shapes of the vault in the HTTP API's JSON, once for server, SDK and command line. */

/** What a field holds: text or, where it is not UTF-8, its bytes. */
export type VaultValue = { readonly text: string } | { readonly base64: string }

/** What may be known of a secret without reading it. */
export interface SecretInfo {
  readonly name: string
  /** The number of its newest version, from 1. */
  readonly version: number
  /** Those that may be read, in order. */
  readonly fields: readonly string[]
  readonly createdAt: string
  readonly updatedAt: string
  /** The id of the key, token or grant that wrote the newest version. */
  readonly updatedBy: string
}

export interface SecretVersion {
  readonly version: number
  readonly fields: readonly string[]
  readonly createdAt: string
  readonly createdBy: string
}

export interface SecretValues {
  readonly name: string
  readonly version: number
  readonly fields: Readonly<Record<string, VaultValue>>
}

/** What a change of a secret left. */
export interface SecretReceipt {
  readonly name: string
  readonly version: number
  readonly fields: readonly string[]
}

export const vaultPermissions = ['read', 'write'] as const
export type VaultPermission = (typeof vaultPermissions)[number]

/** A secret, or one field of it. Either may end with `*`: all that begin so. */
export interface VaultScope {
  readonly secret: string
  readonly field?: string
}

export interface VaultGrant {
  readonly id: string
  /** Whom it was made for. */
  readonly agent: string
  readonly scopes: readonly VaultScope[]
  readonly permissions: readonly VaultPermission[]
  readonly createdAt: string
  readonly createdBy: string
  readonly expiresAt: string
  readonly revokedAt?: string
}

export interface IssuedVaultGrant extends VaultGrant {
  /** Opens what the grant allows, and nothing else. Told this once. */
  readonly token: string
  /** Scopes that match no secret or field yet, as `SECRET` or `SECRET/FIELD`. */
  readonly unmatched: readonly string[]
}

export const vaultOutcomes = ['ok', 'denied', 'missing'] as const
export type VaultOutcome = (typeof vaultOutcomes)[number]

/** One thing that was done or refused. */
export interface VaultAuditEntry {
  readonly id: number
  readonly time: string
  /** The id of the key, token or grant. */
  readonly actor: string
  /** Whom the grant was made for, if it was one. */
  readonly agent?: string
  readonly action: string
  readonly secret?: string
  readonly field?: string
  readonly version?: number
  readonly outcome: VaultOutcome
  /** The call of an agent's tool, if it said so. */
  readonly toolCall?: string
  readonly requestId?: string
}

/** What a rotation of the master key did. */
export interface RotationReport {
  /** The id of the key that everything is wrapped with now. */
  readonly masterKey: string
  /** Workspaces whose key was wrapped anew. */
  readonly rewrapped: number
  /** Those wrapped with a key that is not known here. */
  readonly left: number
}
