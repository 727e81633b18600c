/** An owner key. It is known by its name; rotating it changes its secret. */
export interface KeyInfo {
  readonly name: string
  readonly state: 'live' | 'removed'
  readonly createdAt: string
  /** When it got the secret that it has now; absent while that is the first one. */
  readonly rotatedAt?: string
  /** Until when a secret from before a rotation still works. */
  readonly graceUntil?: string
  readonly removedAt?: string
}

/** The one answer that has the secret. */
export interface IssuedKey extends KeyInfo {
  readonly secret: string
}

/** Names stand in logs and audits as they are, so none looks like the id of a token or a grant. */
export const keyNamePattern = '^[A-Za-z0-9][A-Za-z0-9.@-]{0,63}$'
