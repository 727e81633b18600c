import { sqlRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import { type PlaceLimits, Places } from '../../access/places.ts'
import type { JournalKeeper } from '../../journal/journal-keeper.ts'
import { runSql, type SqlParts } from '../../sql/run-sql.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { openTarget } from '../context.ts'
import { takePlace } from '../take-place.ts'

/** Each statement has a process. */
const sqlPlaces: PlaceLimits = { all: 8, owner: 4, token: 2, address: 4 }

export function sqlRoute(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  parts: SqlParts,
  journals: JournalKeeper | undefined,
): void {
  const places = new Places(sqlPlaces, 'SQL statements under way')
  adderOf(app, table)(
    'GET /v1/workspaces/:workspace/sql',
    { access: ['search'] },
    async (request, reply) => {
      const { query } = request
      const leave = takePlace(places, request, reply, 'run the SQL')
      try {
        const target = await openTarget(workspaces, request)
        const asked = { ...target, scope: target.asker.scope, journals }
        return await runSql(parts, asked, query.sql, query.limit ?? 1000)
      } finally {
        leave()
      }
    },
  )
}
