import { CairnError } from '@cairn/protocol'
import { media, type Route, workspaceParams } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import { type PlaceLimits, Places } from '../../access/places.ts'
import { requirePresent } from '../../access/present.ts'
import { attemptFiles } from '../../search/attempts.ts'
import { Grep } from '../../search/grep.ts'
import { grepQuerySchema, type GrepQuery, readGrep } from '../../search/grep-query.ts'
import { narrowingOf } from '../../search/narrowed-files.ts'
import type { SearchIndex } from '../../search/index/search-index.ts'
import { searchedFiles } from '../../search/searched-files.ts'
import { scanPool } from '../../search/scan-pool.ts'
import { openSearchTarget } from '../../search/search-target.ts'
import type { PointQuery } from '../../points/references.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { schemaOf } from '../add-routes.ts'
import { openTarget } from '../context.ts'
import { pathOfQuery, type PathQuery, pathQuery } from '../path-query.ts'
import { branchQuery, objectSchema } from '../schema.ts'
import { sendLines } from '../send-lines.ts'
import { takePlace } from '../take-place.ts'

/** Searches read and compute much, so fewer may be under way than other requests. */
export const searchPlaces: PlaceLimits = { all: 32, owner: 16, token: 4, address: 16 }

const route: Route = {
  summary: 'Search the lines of files; the answer is lines of JSON as rg --json prints them',
  params: workspaceParams,
  query: objectSchema({ ...branchQuery, ...pathQuery, ...grepQuerySchema }, ['pattern']),
  answers: { 200: media('application/x-ndjson') },
}

export function grepRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  index: SearchIndex | undefined,
): void {
  const places = new Places(searchPlaces, 'searches under way')
  app.get<{ Querystring: GrepQuery & PathQuery & PointQuery }>(
    '/v1/workspaces/:workspace/grep',
    {
      config: { access: ['search'], route },
      schema: schemaOf(route),
    },
    async (request, reply) => {
      const { query, gone } = request
      reply.raw.once('close', takePlace(places, request, reply, 'search'))
      const target = await openTarget(workspaces, request)
      const asked = readGrep(query)
      requireOnePlace(query)
      const searched = await openSearchTarget(target)
      const path = pathOfQuery(query) ?? '/'
      const search = await scanPool.open(asked.spec)
      try {
        const narrowing = index && narrowingOf(index.of(target.workspace), search.needs, asked.spec)
        const files = await (asked.attempts === undefined
          ? searchedFiles(target, searched, path, asked, narrowing)
          : attemptFiles(target, asked.attempts, path, asked, narrowing))
        requirePresent(gone)
        const grep = new Grep(searched, search, asked.budget, narrowing?.skipped)
        return sendLines(reply, request, grep.run(files, gone))
      } catch (error) {
        search.close()
        throw error
      }
    },
  )
}

function requireOnePlace({ attempts, layer, at, side, cursor }: GrepQuery & PointQuery): void {
  if (attempts === undefined) return
  const other = Object.entries({ layer, at, side, cursor }).find(([, value]) => value !== undefined)
  if (!other) return
  throw new CairnError('invalid_argument', {
    what: `search in attempts with ${other[0]}`,
    reason: 'attempts are searched as they are now, all of them, in one answer',
    hint: `Leave out ${other[0]} or attempts.`,
    subject: other[0],
  })
}
