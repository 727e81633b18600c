import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { CairnError, isCairnError } from '@cairn/protocol'
import type { Peers } from '../peers/peers.ts'
import type { UploadStore } from '../ports/upload-store.ts'
import type { Metrics } from '../metrics.ts'
import type { VaultDoor } from '../open-vault.ts'
import type { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import { ordinaryPlaces, type PlaceLimits } from '../access/places.ts'
import { Authenticator, type AuthenticatorParts } from '../access/authenticator.ts'
import type { AccessWatch } from '../access/access-watch.ts'
import type { OwnerKeys } from '../access/owner-keys.ts'
import { endWithAccess, requireAccess } from './authenticate.ts'
import { type Body, ordinaryPace, type BodyPace, paced } from './body.ts'
import type { ClientFiles } from './client-files.ts'
import { answerBrokenRequest, headerBytesMax } from './broken-requests.ts'
import { toHttpError } from './errors.ts'
import { watchForGoneClients } from './gone-clients.ts'
import type { RequireHost } from '../access/hosts.ts'
import { readJson } from './json-body.ts'
import type { SearchIndex } from '../search/index/search-index.ts'
import type { SqlParts } from '../sql/run-sql.ts'
import { answerInPieces } from './json-pieces.ts'
import { limitConnections, limitRequests, ordinaryConnections } from './limits.ts'
import { openApiOf, type RouteInfo } from './openapi.ts'
import { takePath } from './raw-path.ts'
import { relayChanges } from './relay-changes.ts'
import { takeRelayed } from './relayed.ts'
import { printed, printRequests } from './request-print.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { compileForFastify } from './validate.ts'
import type { Certificate } from './tls.ts'
import { batchRoutes } from './routes/batch.ts'
import { bundleRoutes } from './routes/bundles.ts'
import { changeFileRoutes } from './routes/change-files.ts'
import { eventRoutes } from './routes/events.ts'
import { gitRoutes } from './routes/git.ts'
import { findRoute } from './routes/find.ts'
import { grepRoutes } from './routes/grep.ts'
import { installRoutes } from './routes/install.ts'
import { journalRoutes } from './routes/journals.ts'
import { keyRoutes } from './routes/keys.ts'
import { layerRoutes } from './routes/layers.ts'
import { layerChangeRoutes } from './routes/layer-changes.ts'
import { blameRoutes, logRoutes, undoRoutes } from './routes/log.ts'
import { mcpRoute } from './routes/mcp.ts'
import { readFileRoutes } from './routes/read-files.ts'
import {
  type Collect,
  plainRoutes,
  rotationRoute,
  serverRoutes,
  statusRoute,
} from './routes/server.ts'
import { searchRoute } from './routes/search.ts'
import { sqlRoute } from './routes/sql.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { vaultGrantRoutes } from './routes/vault-grants.ts'
import { vaultRoutes } from './routes/vault.ts'
import { workspaceRoutes } from './routes/workspaces.ts'
import { limitGrants } from './vault-context.ts'

export interface AppParts extends AuthenticatorParts {
  readonly workspaces: WorkspaceKeeper
  readonly uploads: UploadStore
  /**
   * Deletes unreachable data, or with a dry run reports what it would delete. Absent where there is
   * nothing to collect.
   */
  readonly collect?: Collect
  /** Absent where nothing secret can be kept. */
  readonly vault?: VaultDoor
  readonly metrics: Metrics
  /** Rejects while a store does not answer. */
  readonly checkReady: () => Promise<void>
  /** Structured log lines; undefined for silence. */
  readonly logStream?: { write(line: string): void }
  /** Where workspaces are exported to for git; absent where they are not. */
  readonly gitDirectory?: string
  /** Absent where searches read every file. */
  readonly searchIndex?: SearchIndex
  /** Absent where statements of SQL are not run. */
  readonly sql?: SqlParts
  /** What it hands out to machines without the command. */
  readonly clients?: ClientFiles
  /** Absent where keys cannot be changed. */
  readonly keys?: OwnerKeys
  /** Ends what goes on when its token or key is over. */
  readonly watch?: AccessWatch
  /** How fast bodies must come. */
  readonly pace?: BodyPace
  /** Refuses requests for other hosts; undefined where any is answered. */
  readonly requireHost?: RequireHost | undefined
  /** Speaks TLS with it. */
  readonly certificate?: Certificate | undefined
  /** How many requests may be under way. */
  readonly places?: PlaceLimits
  /** Other servers, to which changes are relayed; absent where there are none. */
  readonly peers?: Peers | undefined
}

const headersMsMax = 20_000
const unreadMsMax = 5000

/** The HTTP door. It listens nowhere by itself: tests call it in process. */
export function buildApp(parts: AppParts): FastifyInstance {
  const http = { maxHeaderSize: headerBytesMax, headersTimeout: headersMsMax }
  // Fastify has another type for each kind of server; here they are used in the same way.
  const app = (Fastify as unknown as (options: object) => FastifyInstance)({
    logger: parts.logStream
      ? { stream: parts.logStream, redact: ['req.headers.authorization'] }
      : false,
    rewriteUrl: takePath,
    // What the client sent, if it can be shown; else a new one.
    genReqId: ({ headers }: IncomingMessage) => safeId(headers['x-request-id']) ?? randomUUID(),
    bodyLimit: Number.MAX_SAFE_INTEGER,
    routerOptions: { maxParamLength: 512 },
    forceCloseConnections: true,
    ...(parts.certificate ? { https: { ...http, ...parts.certificate } } : { http }),
    clientErrorHandler: answerBrokenRequest,
    // A URL that cannot be decoded.
    frameworkErrors: answerError,
  })
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    app.server.emit('request', request, response),
  )
  app.setValidatorCompiler(compileForFastify)
  takeBodiesAsTheyCome(app, parts.pace ?? ordinaryPace)
  parts.metrics.watchRequests(app)
  addSecurityHeaders(app, parts.certificate !== undefined)
  const { vault, requireHost } = parts
  if (requireHost) app.addHook('onRequest', async ({ headers }) => requireHost(headers))
  const findKey = vault ? vault.grants.withGrants(parts.findKey) : parts.findKey
  watchForGoneClients(app)
  answerInPieces(app)
  takeRelayed(app, parts.peers)
  requireAccess(app, new Authenticator({ ...parts, findKey }))
  limitRequests(app, parts.places ?? ordinaryPlaces)
  limitConnections(app.server, ordinaryConnections)
  if (vault) limitGrants(app, vault.grants)
  if (parts.watch) endWithAccess(app, parts.watch)
  if (parts.peers) relayChanges(app, parts.workspaces, parts.peers)
  app.addHook('onSend', async (request, reply) => void reply.header('x-request-id', request.id))
  answerErrors(app)
  const routes = collectRoutes(app)
  plainRoutes(app, parts, () => openApiOf(routes))
  workspaceRoutes(app, parts.workspaces)
  bundleRoutes(app, parts.workspaces, vault?.journals)
  readFileRoutes(app, parts.workspaces)
  changeFileRoutes(app, parts.workspaces)
  batchRoutes(app, parts.workspaces)
  layerRoutes(app, parts.workspaces)
  layerChangeRoutes(app, parts.workspaces)
  logRoutes(app, parts.workspaces)
  blameRoutes(app, parts.workspaces)
  undoRoutes(app, parts.workspaces)
  eventRoutes(app, parts.workspaces, parts.watch)
  uploadRoutes(app, parts.workspaces, parts.uploads)
  findRoute(app, parts.workspaces)
  searchRoute(app, parts.workspaces, parts.searchIndex)
  grepRoutes(app, parts.workspaces, parts.searchIndex)
  mcpRoute(app, parts.workspaces)
  serverRoutes(app, parts.collect)
  if (parts.searchIndex) statusRoute(app, parts.searchIndex, parts.metrics)
  if (parts.clients) installRoutes(app, parts.clients)
  if (parts.gitDirectory !== undefined) gitRoutes(app, parts.workspaces, parts.gitDirectory)
  if (parts.sql) sqlRoute(app, parts.workspaces, parts.sql, vault?.journals)
  if (parts.keys) keyRoutes(app, parts.keys)
  if (parts.tokens) tokenRoutes(app, parts.workspaces, parts.tokens)
  if (vault) {
    vaultRoutes(app, parts.workspaces, vault.vault)
    vaultGrantRoutes(app, parts.workspaces, vault.grants, vault.audit)
    rotationRoute(app, vault.rotate)
    journalRoutes(app, parts.workspaces, vault.journals)
  }
  return app
}

/** An uploaded JSON file is bytes like any other. Routes with a JSON body declare a schema for it. */
function takeBodiesAsTheyCome(app: FastifyInstance, pace: BodyPace): void {
  app.removeAllContentTypeParsers()
  printRequests(app)
  app.addContentTypeParser('*', (request, payload, done) =>
    done(null, printed(request, paced(payload, pace))),
  )
  app.addHook('preValidation', async (request, { raw }) => {
    if (!request.routeOptions.schema?.body) return
    const atEnd = (release: () => void): unknown =>
      raw.closed ? release() : raw.once('close', release)
    request.body = await readJson(request.body as Body | undefined, atEnd)
  })
  app.addHook('onResponse', async ({ raw }) => dropUnread(raw))
}

function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((request, reply) => {
    const error = new CairnError('not_found', {
      what: `${request.method} ${request.url}`,
      reason: 'no such route',
    })
    void reply.code(404).send(toHttpError(error, request.id).body)
  })
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = isFastifyRefusal(error)
    ? new CairnError('invalid_argument', { what: 'read the request', reason: `${error.message}` })
    : error
  const what = `${request.method} ${request.url}`
  const { status, body } = toHttpError(known, request.id, what)
  if (status >= 500) request.log.error(error)
  void reply.code(status).type('application/json').send(body)
}

/**
 * What is left of a body after the answer is read, so that the answer arrives: a connection that is closed on unread
 * bytes is reset. But not for ever.
 */
function dropUnread(request: IncomingMessage): void {
  if (request.complete) return
  const timer = setTimeout(() => request.destroy(), unreadMsMax).unref()
  request.resume()
  request.once('close', () => clearTimeout(timer))
}

/** Fastify's own refusals: a header too long, a body cut off. */
function isFastifyRefusal(error: unknown): error is Error {
  // Fastify gives a status to ours, too, where a schema does not fit.
  if (isCairnError(error)) return false
  const status = (error as { statusCode?: unknown } | undefined)?.statusCode
  return error instanceof Error && typeof status === 'number' && status < 500
}

function collectRoutes(app: FastifyInstance): RouteInfo[] {
  const routes: RouteInfo[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const verb of [method].flat()) routes.push({ method: verb, url, config: config ?? {} })
  })
  return routes
}

function safeId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : undefined
}
