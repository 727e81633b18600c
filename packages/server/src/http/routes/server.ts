import type { CollectReport, RotationReport } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import { flagSchema, isOn, objectSchema } from '../schema.ts'

export type Collect = (dryRun: boolean) => Promise<CollectReport>

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
    (request) => collect(isOn(request.query.dryRun)),
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
