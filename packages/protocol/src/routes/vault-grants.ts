import { integer, list, named, object, type Of, oneOf, optional, text } from '../schema/build.ts'
import { cursor, limit, page, time, timeQuery, workspaceParams } from '../schema/common.ts'
import { routes } from '../schema/route.ts'
import { vaultOutcomes, vaultPermissions } from '../vault-words.ts'

const yearMs = 366 * 24 * 60 * 60 * 1000
const short = (example: string) => text({ minLength: 1, maxLength: 256, examples: [example] })
/** A name, or the beginning of one and a star. */
const pattern = (example: string) =>
  text({
    pattern: '^(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}\\*?|\\*)$',
    wants: 'a name, the beginning of one and a star, or a star',
    examples: [example],
  })

/** A secret, or one field of it. Either may end with `*`: all that begin so. */
export type VaultScope = Of<typeof VaultScope>
export const VaultScope = named(
  'VaultScope',
  object({ secret: pattern('github'), field: optional(pattern('token')) }),
)

export type VaultGrant = Of<typeof VaultGrant>
export const VaultGrant = named(
  'VaultGrant',
  object({
    id: text({ examples: ['vgr_8c2f'] }),
    /** The agent that it was made for. */
    agent: short('deployer'),
    scopes: list(VaultScope),
    permissions: list(oneOf(vaultPermissions)),
    createdAt: time(),
    createdBy: text({ examples: ['alice'] }),
    expiresAt: time(),
    revokedAt: optional(time()),
  }),
)

export type IssuedVaultGrant = Of<typeof IssuedVaultGrant>
export const IssuedVaultGrant = named(
  'IssuedVaultGrant',
  object({
    ...VaultGrant.fields,
    /** Opens what the grant allows, and nothing else. It is in this answer alone. */
    token: text({ examples: ['cairn_vgr_…'] }),
    /** Scopes that match no secret or field yet, as `SECRET` or `SECRET/FIELD`. */
    unmatched: list(text({ examples: ['github/token'] })),
  }),
)

/** One thing that was done or refused. */
export type VaultAuditEntry = Of<typeof VaultAuditEntry>
export const VaultAuditEntry = named(
  'VaultAuditEntry',
  object({
    id: integer({ examples: [41] }),
    time: time(),
    /** The id of the key, token or grant. */
    actor: text({ examples: ['vgr_8c2f'] }),
    /** The agent that the grant was made for, if it was one. */
    agent: optional(text({ examples: ['deployer'] })),
    action: text({ examples: ['read'] }),
    secret: optional(text({ examples: ['github'] })),
    field: optional(text({ examples: ['token'] })),
    version: optional(integer()),
    outcome: oneOf(vaultOutcomes),
    /** The call of an agent's tool, if it said so. */
    toolCall: optional(text()),
    requestId: optional(text()),
  }),
)

export const vaultGrantRoutes = routes({
  'POST /v1/workspaces/:workspace/vault/grants': {
    summary: 'Let an agent read or write secrets for a while; the token is shown once',
    params: workspaceParams,
    body: object({
      agent: short('deployer'),
      scopes: list(VaultScope, { minItems: 1, maxItems: 64 }),
      permissions: list(oneOf(vaultPermissions), { minItems: 1, uniqueItems: true }),
      ttlMs: integer({ minimum: 1, maximum: yearMs, examples: [3_600_000] }),
    }),
    answers: { 201: IssuedVaultGrant },
  },
  'GET /v1/workspaces/:workspace/vault/grants': {
    summary: 'List grants, also expired and revoked ones',
    params: workspaceParams,
    query: object({ cursor: optional(cursor(256)), limit: limit() }),
    answers: { 200: page(VaultGrant) },
  },
  'DELETE /v1/workspaces/:workspace/vault/grants/:grant': {
    summary: 'Revoke a grant, at once',
    params: object({ ...workspaceParams.fields, grant: short('vgr_8c2f') }),
    answers: { 200: VaultGrant },
  },
  'GET /v1/workspaces/:workspace/vault/audit': {
    summary: 'Who read, wrote or was refused what, newest first',
    params: workspaceParams,
    query: object({
      secret: optional(short('github')),
      agent: optional(short('deployer')),
      actor: optional(short('vgr_8c2f')),
      outcome: optional(oneOf(vaultOutcomes)),
      since: optional(timeQuery()),
      until: optional(timeQuery()),
      cursor: optional(integer({ minimum: 1, examples: [41] })),
      limit: limit(),
    }),
    answers: { 200: page(VaultAuditEntry) },
  },
})
