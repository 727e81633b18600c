import type { CollectReport, RotationReport } from '@cairn/protocol'
import { serverRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import type { RunOptions } from '../../jobs/collector.ts'
import type { SearchIndex } from '../../search/index/search-index.ts'
import type { Metrics } from '../../metrics.ts'
import { adderOf } from '../add-routes.ts'
import { ownerOf } from '../context.ts'
import { isOn } from '../flag.ts'

export type Collect = (options: RunOptions) => Promise<CollectReport>

interface PlainParts {
  readonly metrics: Metrics
  /** Rejects while a store does not answer. */
  readonly checkReady: () => Promise<void>
}

/** For those who watch the server, or want to know what it can do. */
export function plainRoutes(
  app: FastifyInstance,
  { metrics, checkReady }: PlainParts,
  openApi: () => object,
): void {
  const add = adderOf(app, table)

  add('GET /healthz', { access: 'open' }, async () => ({ status: 'ok' }))

  add('GET /readyz', { access: 'open' }, async () => {
    await checkReady()
    return { status: 'ok' }
  })

  add('GET /metrics', { access: 'owner' }, async (_request, reply) => {
    const { type, text } = await metrics.tell()
    return reply.type(type).send(text)
  })

  add('GET /v1/openapi.json', { access: 'open' }, async () => openApi())
}

/** What concerns the whole server. */
export function serverRoutes(app: FastifyInstance, collect: Collect | undefined): void {
  if (!collect) return
  // What is not the caller's is counted, and not named.
  adderOf(app, table)('POST /v1/server/gc', { access: 'owner' }, (request) =>
    collect({ dryRun: isOn(request.query.dryRun), owner: ownerOf(request) }),
  )
}

/** Sizes of the whole server: they name nothing of other owners. */
export function statusRoute(app: FastifyInstance, index: SearchIndex, metrics: Metrics): void {
  adderOf(app, table)('GET /v1/server/status', { access: 'owner' }, async () => ({
    search: await index.status(),
    sessions: await metrics.sessions(),
  }))
}

export function rotationRoute(app: FastifyInstance, rotate: () => Promise<RotationReport>): void {
  adderOf(app, table)('POST /v1/server/rotate-master-key', { access: 'owner' }, () => rotate())
}
