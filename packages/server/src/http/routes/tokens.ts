import {
  CairnError,
  type Caveat,
  fromByteString,
  makeRule,
  parsePrefix,
  type TokenInfo,
  type TokenRequest,
} from '@cairn/protocol'
import { tokenRoutes as table, tokenTtlMsMax } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import type { TokenRecord } from '../../ports/token-store.ts'
import { caveatOf, type TokenKeeper } from '../../access/token-keeper.ts'
import { ambiguousReference } from '../../points/errors.ts'
import { findLayer } from '../../points/references.ts'
import type { OpenWorkspace } from '../../workspaces/open-workspace.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { askerOf, openWorkspace, ownerOf } from '../context.ts'

const config = { access: 'owner' } as const

/** Only an owner manages tokens: a holder narrows one without a request. */
export function tokenRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  tokens: TokenKeeper,
): void {
  issueRoute(app, workspaces, tokens)
  listRoutes(app, workspaces, tokens)
  changeRoutes(app, workspaces, tokens)
}

function issueRoute(app: FastifyInstance, workspaces: WorkspaceKeeper, tokens: TokenKeeper): void {
  const add = adderOf(app, table)

  add('POST /v1/workspaces/:workspace/tokens', config, async (request, reply) => {
    const workspace = await openWorkspace(workspaces, request)
    const { name, ttlMs } = request.body
    const { record, secret } = await tokens.issue({
      owner: ownerOf(request),
      workspace: workspace.info.id,
      name,
      issuedBy: askerOf(request).actor,
      ttlMs,
      caveat: await caveatFrom(workspace, request.body),
    })
    void reply.code(201).header('cache-control', 'no-store')
    return { ...describe(workspace, record), secret }
  })
}

function listRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper, tokens: TokenKeeper): void {
  const add = adderOf(app, table)

  add('GET /v1/workspaces/:workspace/tokens', config, async (request) => {
    const workspace = await openWorkspace(workspaces, request)
    const { cursor, limit } = request.query
    const records = await tokens.store.list(workspace.info.id, cursor, limit + 1)
    const items = records.slice(0, limit).map((record) => describe(workspace, record))
    return records.length > limit ? { items, next: items.at(-1)!.id } : { items }
  })

  add('GET /v1/workspaces/:workspace/tokens/:token', config, async (request) => {
    const workspace = await openWorkspace(workspaces, request)
    return describe(workspace, await findOne(workspace, tokens, request.params.token))
  })
}

function changeRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  tokens: TokenKeeper,
): void {
  const add = adderOf(app, table)

  add('DELETE /v1/workspaces/:workspace/tokens/:token', config, async (request) => {
    const workspace = await openWorkspace(workspaces, request)
    const records = await findAll(workspace, tokens, request.params.token)
    for (const { id } of records) await tokens.revoke(id)
    return { revoked: records.map(({ id }) => id) }
  })

  add('POST /v1/workspaces/:workspace/tokens/:token/refresh', config, async (request) => {
    const workspace = await openWorkspace(workspaces, request)
    const record = await findOne(workspace, tokens, request.params.token)
    const { ttlMs = record.expiresMs - record.createdMs } = request.body
    if (!(await tokens.extend(record.id, Math.min(ttlMs, tokenTtlMsMax))))
      throw new CairnError('access_ended', {
        what: `refresh token ${record.id}`,
        reason: 'it was revoked',
        subject: record.id,
      })
    return describe(workspace, (await tokens.store.find(record.id))!)
  })
}

async function caveatFrom(workspace: OpenWorkspace, request: TokenRequest): Promise<Caveat> {
  const { allow, deny = [], layer, maxBytes, maxFiles } = request
  return {
    rules: allow.map(({ path, operations }) => makeRule(path, operations)),
    ...(deny.length === 0 ? {} : { deny: deny.map(parsePrefix) }),
    ...(layer === undefined ? {} : { layer: (await findLayer(workspace, layer)).id }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(maxFiles === undefined ? {} : { maxFiles }),
  }
}

/** All living tokens with the name; by id also one that is over. */
async function findAll(
  { info, clock }: Pick<OpenWorkspace, 'info' | 'clock'>,
  { store }: TokenKeeper,
  reference: string,
): Promise<readonly TokenRecord[]> {
  const exact = await store.find(reference)
  if (exact?.workspace === info.id) return [exact]
  const named = await store.findByName(info.id, reference)
  const live = named.filter(
    ({ revokedMs, expiresMs }) => revokedMs === undefined && expiresMs > clock.nowMs(),
  )
  const found = live.length > 0 ? live : named.slice(-1)
  if (found.length > 0) return found
  throw new CairnError('token_missing', {
    what: `find token '${reference}'`,
    reason: `no token has the name or id '${reference}'`,
    subject: reference,
  })
}

async function findOne(
  workspace: OpenWorkspace,
  tokens: TokenKeeper,
  reference: string,
): Promise<TokenRecord> {
  const [record, ...more] = await findAll(workspace, tokens, reference)
  if (more.length === 0) return record!
  throw ambiguousReference(
    'token',
    reference,
    [record!, ...more].map(({ id }) => id),
  )
}

function describe({ clock }: Pick<OpenWorkspace, 'clock'>, record: TokenRecord): TokenInfo {
  const { rules = [], deny = [], layer, maxBytes, maxFiles } = caveatOf(record)
  const { id, name, issuedBy, createdMs, expiresMs, revokedMs, used } = record
  const state = expiresMs > clock.nowMs() ? 'live' : 'expired'
  const shown = (path: string): string => new TextDecoder().decode(fromByteString(path))
  return {
    id,
    name,
    allow: rules.map(({ prefix, operations }) => ({ path: shown(prefix), operations })),
    deny: deny.map(shown),
    ...(layer === undefined ? {} : { layer }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(maxFiles === undefined ? {} : { maxFiles }),
    ...(maxBytes === undefined && maxFiles === undefined ? {} : { used }),
    state: revokedMs === undefined ? state : 'revoked',
    issuedBy,
    createdAt: new Date(createdMs).toISOString(),
    expiresAt: new Date(expiresMs).toISOString(),
    ...(revokedMs === undefined ? {} : { revokedAt: new Date(revokedMs).toISOString() }),
  }
}
