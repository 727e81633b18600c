import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  type ActorId,
  CairnError,
  type Caveat,
  decodeCaveat,
  encodeCaveat,
  formatToken,
  type Grant,
  grantOfToken,
  parseToken,
  tokenCharactersMax,
  type TokenText,
} from '@cairn/protocol'
import type { MasterKey, MasterKeys } from './master-key.ts'
import type { Clock } from '../ports/clock.ts'
import type { Access } from './access.ts'
import { Budget } from './budget.ts'
import { Line } from './budget-share.ts'
import type { TokenRecord, TokenStore } from '../ports/token-store.ts'

export interface TokensParts {
  readonly store: TokenStore
  /** Asked when the first token is issued or shown: a server without tokens needs none. */
  readonly master: MasterKeys
  readonly clock: Pick<Clock, 'nowMs'>
}

/** For whom and for how long a token is to be made. */
export interface TokenWish {
  readonly owner: string
  readonly workspace: string
  readonly name: string
  readonly issuedBy: ActorId
  readonly ttlMs: number
  readonly caveat: Caveat
}

/** How long a row is believed. With the time between two looks at live sessions it stays below a second. */
const knownMs = 300
const knownMax = 10_000
const idBytes = 16
/** 60 bits. With 32 steps the name of a session's rescue layer still fits a key of the database. */
const markCharacters = 10

/** Makes tokens and tells true ones from others. */
export class TokenKeeper {
  readonly #store: TokenStore
  readonly #master: MasterKeys
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #known = new Map<string, { readonly record: TokenRecord; readonly untilMs: number }>()
  readonly #lines = new Map<string, Line>()
  readonly #listeners = new Set<() => void>()

  constructor({ store, master, clock }: TokensParts) {
    this.#store = store
    this.#master = master
    this.#clock = clock
  }

  get store(): TokenStore {
    return this.#store
  }

  /** The only time that the server knows the secret. */
  async issue(wish: TokenWish): Promise<{ readonly record: TokenRecord; readonly secret: string }> {
    const { owner, workspace, name, issuedBy, ttlMs } = wish
    const id = `tok_${randomBytes(idBytes).toString('base64url')}`
    const caveat = encodeCaveat(wish.caveat)
    const signature = sign(keyOf(this.#master, id), caveat)
    const secret = formatToken({ id, caveats: [caveat], signature: text(signature) })
    if (secret.length > tokenCharactersMax / 2)
      throw new CairnError('too_large', {
        what: `issue token '${name}'`,
        reason: `its paths take ${secret.length} characters, ${tokenCharactersMax / 2} are allowed`,
        subject: name,
      })
    const createdMs = this.#clock.nowMs()
    const record: TokenRecord = {
      id,
      owner,
      workspace,
      name,
      caveat,
      signatureHash: hashOf(signature),
      issuedBy,
      createdMs,
      expiresMs: createdMs + ttlMs,
      revokedMs: undefined,
      used: { bytes: 0, files: 0 },
    }
    await this.#store.create(record)
    return { record, secret }
  }

  /**
   * Its owner and what it allows; undefined for a token that this server never issued. Rejects with
   * `access_ended` for one that is over: a client with its secret may know that.
   */
  async authenticate(secret: string): Promise<Access | undefined> {
    const token = parseToken(secret)
    const record = token && (await this.#find(token.id))
    if (!token || !record || !(await this.#isTrue(token, record))) return undefined
    const grant = grantOfToken(token)
    if (!grant) return undefined
    requireLive(record, grant, this.#clock.nowMs())
    const { id, owner, workspace } = record
    const budget = this.#budgetOf(token, grant)
    return {
      actor: id as ActorId,
      owner,
      scope: {
        token: id,
        identity: identityOf(token),
        workspace,
        grant,
        ...(budget ? { budget } : {}),
      },
    }
  }

  async revoke(id: string): Promise<boolean> {
    const isDone = await this.#store.revoke(id, this.#clock.nowMs())
    this.#forget(id)
    return isDone
  }

  /** Restarts its time. The secret stays, so mounts with it continue. */
  async extend(id: string, ttlMs: number): Promise<boolean> {
    const isDone = await this.#store.extend(id, this.#clock.nowMs() + ttlMs)
    this.#forget(id)
    return isDone
  }

  /** Hears that a token was revoked or extended here. Gives what stops it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #forget(id: string): void {
    this.#known.delete(id)
    for (const listener of this.#listeners) listener()
  }

  /** Missing tokens are not remembered: a client that tries many must not fill the memory. */
  async #find(id: string): Promise<TokenRecord | undefined> {
    const known = this.#known.get(id)
    if (known && known.untilMs > this.#clock.nowMs()) return known.record
    const untilMs = this.#clock.nowMs() + knownMs
    const record = await this.#store.find(id)
    this.#known.delete(id)
    if (record) this.#known.set(id, { record, untilMs })
    if (this.#known.size > knownMax) this.#known.delete(this.#known.keys().next().value!)
    return record
  }

  /** Under the newest master key, one before it, or one that another server has begun with meanwhile. */
  async #isTrue(token: TokenText, record: TokenRecord): Promise<boolean> {
    const isSigned = (key: MasterKey): boolean => isSignedBy(key, token, record)
    const { known } = this.#master
    if ((known.length > 0 ? known : [this.#master]).some(isSigned)) return true
    await this.#master.find('')
    return this.#master.known.some((key) => !known.includes(key) && isSigned(key))
  }

  /** Those that were narrowed from one another share what it has. */
  #budgetOf({ id }: TokenText, grant: Grant): Budget | undefined {
    if (grant.maxBytes === undefined && grant.maxFiles === undefined) return undefined
    let line = this.#lines.get(id)
    if (!line) this.#lines.set(id, (line = new Line()))
    if (this.#lines.size > knownMax) this.#lines.delete(this.#lines.keys().next().value!)
    return new Budget(this.#store, id, line, grant)
  }
}

/**
 * Tokens narrowed to the same grant in the same steps have the same identity. It begins with the
 * identity of the token it was made from.
 */
function identityOf({ id, caveats }: TokenText): string {
  const marks = caveats.slice(1).map((_, index) => {
    const steps = caveats.slice(0, index + 2).join('.')
    return createHash('sha256').update(steps).digest('base64url').slice(0, markCharacters)
  })
  return [id, ...marks].join('~')
}

function isSignedBy(
  key: MasterKey,
  { id, caveats, signature }: TokenText,
  { signatureHash }: TokenRecord,
): boolean {
  let signed = keyOf(key, id)
  const signatures = caveats.map((caveat) => (signed = sign(signed, caveat)))
  const isIssued = timingSafeEqual(hashOf(signatures[0]!), signatureHash)
  return timingSafeEqual(hashOf(signed), hashOf(Buffer.from(signature, 'base64url'))) && isIssued
}

function keyOf(master: MasterKey, id: string): Uint8Array {
  return master.derive(`token:${id}`)
}

/** Throws `access_ended` once it is over, by what the database says or by its own words. */
export function requireLive(
  { id, revokedMs, expiresMs }: TokenRecord,
  { notAfterMs = Infinity }: Pick<Grant, 'notAfterMs'>,
  nowMs: number,
): void {
  const endMs = Math.min(expiresMs, notAfterMs)
  if (revokedMs === undefined && endMs > nowMs) return
  const why =
    revokedMs === undefined
      ? `the token expired at ${new Date(endMs).toISOString()}`
      : `the token was revoked at ${new Date(revokedMs).toISOString()}`
  throw new CairnError('access_ended', { what: `use token ${id}`, reason: why, subject: id })
}

export function caveatOf({ caveat, id }: TokenRecord): Caveat {
  const decoded = decodeCaveat(caveat)
  if (decoded) return decoded
  throw new Error(`what token ${id} was issued for cannot be read`)
}

function sign(key: Uint8Array, caveat: string): Uint8Array {
  return createHmac('sha256', key).update(caveat).digest()
}

function hashOf(signature: Uint8Array): Uint8Array {
  return createHash('sha256').update(signature).digest()
}

function text(signature: Uint8Array): string {
  return Buffer.from(signature).toString('base64url')
}
