import { createHash } from 'node:crypto'
import { type ActorId, CairnError, isToken, tokenCharactersMax } from '@cairn/protocol'
import type { Access } from './access.ts'
import { FailedAttempts } from './attempts.ts'
import type { TokenKeeper } from './token-keeper.ts'

/** A key of an owner that may be used now. */
export interface KnownKey {
  readonly id: string
  readonly owner: string
  /** What logs and audits show of it; the id where there is none, as with a grant. */
  readonly name?: string
}

/** Looks a key up by the hash of its secret; the secret itself is stored nowhere. */
export type FindKey = (secretHash: Uint8Array) => Promise<KnownKey | undefined>

export interface AuthenticatorParts {
  readonly findKey: FindKey
  /** Without it, tokens are unknown keys. */
  readonly tokens?: TokenKeeper | undefined
  /** Shared by all doors of a server. */
  readonly attempts?: FailedAttempts | undefined
}

const bearer = new RegExp(`^Bearer ([\\x21-\\x7e]{8,${tokenCharactersMax}})$`)

/**
 * Tells at every door who asks. Keys are compared between hashes inside the database's index, so how long it takes
 * tells nothing about the secret.
 */
export class Authenticator {
  readonly attempts: FailedAttempts
  readonly #parts: AuthenticatorParts

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts
    this.attempts = parts.attempts ?? new FailedAttempts()
  }

  /** Throws `unauthenticated`, `access_ended` or `too_many_attempts`; rejects when the store does not answer. */
  async authenticate(authorization: string | undefined, address: string): Promise<Access> {
    const secret = bearer.exec(authorization ?? '')?.[1]
    const keyHash = secret === undefined ? '' : Buffer.from(hashSecret(secret)).toString('base64')
    this.attempts.require(address, keyHash)
    const access = secret === undefined ? undefined : await this.#find(secret)
    if (access) {
      this.attempts.welcome(address, keyHash)
      return access
    }
    // A client without a key has guessed nothing.
    if (authorization !== undefined) this.attempts.note(address)
    throw new CairnError('unauthenticated', {
      what: 'answer the request',
      reason:
        authorization === undefined
          ? 'no key or token was sent'
          : 'the server does not know this key or token',
    })
  }

  async #find(secret: string): Promise<Access | undefined> {
    const { findKey, tokens } = this.#parts
    if (isToken(secret)) return tokens?.authenticate(secret)
    const key = await findKey(hashSecret(secret))
    if (!key) return undefined
    const { id, owner, name } = key
    if (name === undefined) return { actor: id as ActorId, owner }
    return { actor: name as ActorId, owner, key: id }
  }
}

export function hashSecret(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest()
}
