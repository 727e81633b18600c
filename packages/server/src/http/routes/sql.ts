import { CairnError } from '@cairn/protocol'
import { sqlRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import { type PlaceLimits, Places } from '../../access/places.ts'
import { runSql, type SqlParts } from '../../sql/run-sql.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { adderOf } from '../add-routes.ts'
import { openTarget } from '../context.ts'

/** Each statement has a process. */
const sqlPlaces: PlaceLimits = { all: 8, owner: 4, token: 2, address: 4 }

export function sqlRoute(app: FastifyInstance, workspaces: Workspaces, parts: SqlParts): void {
  const places = new Places(sqlPlaces, 'SQL statements under way')
  adderOf(app, table)(
    'GET /v1/workspaces/:workspace/sql',
    { access: ['search'] },
    async (request, reply) => {
      const { query, ip, access } = request
      const leave = places.take(access!, ip)
      if (typeof leave === 'string') {
        void reply.header('retry-after', '1')
        throw new CairnError('too_many_requests', { what: 'run the SQL', reason: leave })
      }
      try {
        const target = await openTarget(workspaces, request)
        const asked = { ...target, scope: target.asker.scope }
        return await runSql(parts, asked, query.sql, query.limit ?? 1000)
      } finally {
        leave()
      }
    },
  )
}
