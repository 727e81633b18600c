import { createHash, createHmac, randomUUID } from 'node:crypto'
import {
  CairnError,
  type IssuedVaultGrant,
  type Page,
  type VaultGrant,
  type VaultPermission,
  type VaultScope,
} from '@cairn/protocol'
import { type FindKey, hashSecret } from '../access/authenticator.ts'
import type { StoredGrant, VaultGrantTable } from '../storage/vault-grant-table.ts'
import type { VaultTable } from '../storage/vault-table.ts'
import { type Clock, isoTime } from '../ports/clock.ts'
import { missingSecret, type VaultAsker, type VaultAudit } from './audit.ts'
import { findUnmatched } from './unmatched.ts'
import type { WorkspaceKeys } from './workspace-keys.ts'

export interface GrantWish {
  readonly agent: string
  readonly scopes: readonly VaultScope[]
  readonly permissions: readonly VaultPermission[]
  readonly ttlMs: number
}

export interface VaultGrantsParts {
  readonly table: VaultGrantTable
  readonly secrets: VaultTable
  readonly keys: WorkspaceKeys
  readonly audit: VaultAudit
  readonly clock: Clock
}

const idPrefix = 'grant_'

/** Whether an actor is a grant: its holder may use the vault and nothing else. */
export function isGrantId(actor: string): boolean {
  return actor.startsWith(idPrefix)
}

/** Who may read or write which secrets, and until when. */
export class VaultGrants {
  readonly #table: VaultGrantTable
  readonly #secrets: VaultTable
  readonly #keys: WorkspaceKeys
  readonly #audit: VaultAudit
  readonly #clock: Clock

  constructor({ table, secrets, keys, audit, clock }: VaultGrantsParts) {
    this.#table = table
    this.#secrets = secrets
    this.#keys = keys
    this.#audit = audit
    this.#clock = clock
  }

  /**
   * The token is made from the request, so that a repetition gets the same one although it was
   * never stored.
   */
  async issue(asker: VaultAsker, owner: string, wish: GrantWish): Promise<IssuedVaultGrant> {
    const { workspace, actor, idempotencyKey = randomUUID() } = asker
    const request = JSON.stringify([workspace, actor, idempotencyKey])
    const id = `${idPrefix}${createHash('sha256').update(request).digest('hex').slice(0, 24)}`
    const token = this.#token(id, request)
    const known = await this.#table.findBySecret(hashSecret(token))
    if (known) return this.#issueAgain(known, wish, token)
    const unmatched = await findUnmatched(this.#secrets, workspace, wish.scopes)
    requireKnownSecrets(wish, unmatched)
    const now = this.#clock.now()
    const { ttlMs, ...allowed } = wish
    const grant: StoredGrant = {
      id,
      workspace,
      owner,
      ...allowed,
      createdAt: isoTime(now),
      createdBy: actor,
      expiresAt: new Date(this.#clock.nowMs() + ttlMs).toISOString(),
    }
    const note = this.#audit.statements(asker, { action: 'grant', secret: describeScopes(wish) })
    if (await this.#table.create(grant, hashSecret(token), note))
      return { ...publicGrant(grant), token, unmatched: unmatched.map(showScope) }
    return this.#issueAgain(await this.#table.findBySecret(hashSecret(token)), wish, token)
  }

  async #issueAgain(
    known: StoredGrant | undefined,
    wish: GrantWish,
    token: string,
  ): Promise<IssuedVaultGrant> {
    if (known && isSameWish(known, wish)) {
      const unmatched = await findUnmatched(this.#secrets, known.workspace, known.scopes)
      return { ...publicGrant(known), token, unmatched: unmatched.map(showScope) }
    }
    throw new CairnError('idempotency_mismatch', {
      what: 'make the grant',
      reason: 'the Idempotency-Key was used for another one',
    })
  }

  async list(workspace: string, after: string, limit: number): Promise<Page<VaultGrant>> {
    const grants = await this.#table.list(workspace, after, limit + 1)
    const items = grants.slice(0, limit).map(publicGrant)
    return grants.length > limit ? { items, next: items.at(-1)!.id } : { items }
  }

  /** At once, on every server: each request looks its grant up. */
  async revoke(asker: VaultAsker, id: string): Promise<VaultGrant> {
    const note = this.#audit.statements(asker, { action: `revoke ${id}` })
    await this.#table.revoke(asker.workspace, id, isoTime(this.#clock.now()), note)
    const grant = await this.#table.find(id)
    if (grant?.workspace === asker.workspace) return publicGrant(grant)
    throw new CairnError('grant_missing', {
      what: `revoke the grant ${id}`,
      reason: `there is no grant '${id}'`,
      subject: id,
    })
  }

  /** One that may be used now; the refusal of one that is over is noted. */
  async open(id: string): Promise<StoredGrant> {
    const grant = await this.#table.find(id)
    if (grant && (await this.#isLive(grant))) return grant
    throw new CairnError('unauthenticated', {
      what: 'answer the request',
      reason: 'the server does not know this key or token',
    })
  }

  /**
   * Finds grants where there is no key. Their owner owns nothing: only routes that ask for the grant itself have
   * something for them.
   */
  withGrants(findKey: FindKey): FindKey {
    return async (secretHash) => {
      const key = await findKey(secretHash)
      if (key) return key
      const grant = await this.#table.findBySecret(secretHash)
      if (!grant || !(await this.#isLive(grant))) return undefined
      return { id: grant.id, owner: `vault ${grant.id}` }
    }
  }

  /** What a grant tried that is not for grants. */
  async noteStray(asker: VaultAsker, action: string): Promise<void> {
    await this.#audit.note(asker, { action }, 'denied')
  }

  async #isLive(grant: StoredGrant): Promise<boolean> {
    const isExpired = Date.parse(grant.expiresAt) <= this.#clock.nowMs()
    if (grant.revokedAt === undefined && !isExpired) return true
    const { workspace, id: actor } = grant
    const action = isExpired ? 'use expired grant' : 'use revoked grant'
    await this.#audit.note({ workspace, actor, grant }, { action }, 'denied')
    return false
  }

  #token(id: string, request: string): string {
    const key = this.#keys.derive('vault grants')
    return `cairn_v1.${id}.${createHmac('sha256', key).update(request).digest('base64url')}`
  }
}

function publicGrant(stored: StoredGrant): VaultGrant {
  const { workspace: _workspace, owner: _owner, ...grant } = stored
  return grant
}

function isSameWish(grant: StoredGrant, { agent, scopes, permissions }: GrantWish): boolean {
  const same = [grant.agent, grant.scopes, grant.permissions]
  return JSON.stringify(same) === JSON.stringify([agent, scopes, permissions])
}

function describeScopes({ scopes }: GrantWish): string {
  return scopes.map(showScope).join(' ').slice(0, 256)
}

function showScope({ secret, field }: VaultScope): string {
  return field === undefined ? secret : `${secret}/${field}`
}

/** A misspelt name would make a grant that opens nothing, and the mistake would stay hidden. Writers may create what they name. */
function requireKnownSecrets({ permissions }: GrantWish, unmatched: readonly VaultScope[]): void {
  if (permissions.includes('write')) return
  const missing = unmatched.map(showScope).find((name) => !name.includes('*'))
  if (missing !== undefined) throw missingSecret(missing, 'a grant to read it would open nothing')
}
