import { accessOperations } from '../grant.ts'
import { integer, list, named, object, type Of, oneOf, optional, text } from '../schema/build.ts'
import { limit, name, page, quotaFields, time, Used, workspaceParams } from '../schema/common.ts'
import { routes } from '../schema/route.ts'

const id = text({ maxLength: 256, examples: ['tok_5d1e'] })
const path = text({ minLength: 1, maxLength: 4096, examples: ['/repo/src'] })
/** A year: what lives longer is a key. */
export const tokenTtlMsMax: number = 366 * 24 * 60 * 60 * 1000
const ttlMs = integer({ minimum: 1, maximum: tokenTtlMsMax, examples: [3_600_000] })
const params = object({ ...workspaceParams.fields, token: id })

export type TokenRule = Of<typeof TokenRule>
export const TokenRule = named(
  'TokenRule',
  object({ path, operations: list(oneOf(accessOperations)) }),
)

/** What a token is to be allowed, in JSON. */
export type TokenRequest = Of<typeof TokenRequest>
export const TokenRequest = named(
  'TokenRequest',
  object({
    name: name('agent-17'),
    /** How long it lives. */
    ttlMs,
    allow: list(TokenRule, { minItems: 1, maxItems: 100 }),
    deny: optional(list(path, { maxItems: 100 })),
    /** By id, name, tag or checkpoint. */
    layer: optional(text({ minLength: 1, maxLength: 4096 })),
    ...quotaFields,
  }),
)

/** What is known of a token. Its secret is not. */
export type TokenInfo = Of<typeof TokenInfo>
export const TokenInfo = named(
  'TokenInfo',
  object({
    id,
    name: name('agent-17'),
    allow: list(TokenRule),
    deny: list(path),
    /** A layer's id. */
    layer: optional(text()),
    ...quotaFields,
    /** What it has added so far; absent where nothing is limited. */
    used: optional(Used),
    state: oneOf(['live', 'expired', 'revoked']),
    /** The key that issued it. */
    issuedBy: text({ examples: ['alice'] }),
    createdAt: time(),
    expiresAt: time(),
    revokedAt: optional(time()),
  }),
)

/** The one answer that has the secret. */
export type IssuedToken = Of<typeof IssuedToken>
export const IssuedToken = named(
  'IssuedToken',
  object({ ...TokenInfo.fields, secret: text({ examples: ['cairn_tok_…'] }) }),
)

export const tokenRoutes = routes({
  'POST /v1/workspaces/:workspace/tokens': {
    summary: 'Issue a token for some paths, operations and time; its secret is shown once',
    params: workspaceParams,
    body: TokenRequest,
    answers: { 201: IssuedToken },
  },
  'GET /v1/workspaces/:workspace/tokens': {
    summary: 'List tokens, also expired and revoked ones',
    params: workspaceParams,
    query: object({ cursor: optional(id), limit: limit() }),
    answers: { 200: page(TokenInfo) },
  },
  'GET /v1/workspaces/:workspace/tokens/:token': {
    summary: 'What a token allows, by name or id',
    params,
    answers: { 200: TokenInfo },
  },
  'DELETE /v1/workspaces/:workspace/tokens/:token': {
    summary: 'Revoke a token, or all of a name',
    params,
    answers: { 200: object({ revoked: list(id) }) },
  },
  'POST /v1/workspaces/:workspace/tokens/:token/refresh': {
    summary: 'Start the lifetime of a token again; its secret stays',
    params,
    body: object({ ttlMs: optional(ttlMs) }),
    answers: { 200: TokenInfo },
  },
})
