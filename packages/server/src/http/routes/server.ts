import type { CollectReport, RotationReport } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import type { RunOptions } from '../../jobs/collector.ts'
import { ownerOf } from '../context.ts'
import { flagSchema, isOn, objectSchema } from '../schema.ts'

export type Collect = (options: RunOptions) => Promise<CollectReport>

/** What concerns the whole server. */
export function serverRoutes(app: FastifyInstance, collect: Collect | undefined): void {
  if (!collect) return
  app.post<{ Querystring: { dryRun?: string } }>(
    '/v1/server/gc',
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Take away what nobody can ask for any more; with ?dryRun, only tell',
        querystring: objectSchema({ dryRun: flagSchema }),
      },
    },
    // What is not the asker's is counted, and not named.
    (request) => collect({ dryRun: isOn(request.query.dryRun), owner: ownerOf(request) }),
  )
}

export function rotationRoute(app: FastifyInstance, rotate: () => Promise<RotationReport>): void {
  app.post(
    '/v1/server/rotate-master-key',
    {
      config: { access: 'owner' },
      schema: { summary: 'Take the next master key into use, and wrap every key with it' },
    },
    () => rotate(),
  )
}
