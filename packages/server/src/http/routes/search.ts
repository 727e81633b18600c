import { CairnError } from '@cairn/protocol'
import { searchRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import { Places } from '../../access/places.ts'
import { makeFilter } from '../../search/grep-query.ts'
import type { SearchIndex } from '../../search/index/search-index.ts'
import { type AskedSearch, rankedSearch } from '../../search/ranking/ranked-search.ts'
import { stemsOf } from '../../search/ranking/words.ts'
import { openSearchTarget } from '../../search/search-target.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf, type RequestOf } from '../add-routes.ts'
import { openTarget } from '../context.ts'
import { pathOfQuery } from '../path-query.ts'
import { takePlace } from '../take-place.ts'
import { searchPlaces } from './grep.ts'

type SearchQuery = RequestOf<(typeof table)['GET /v1/workspaces/:workspace/search']>['query']

export function searchRoute(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  index: SearchIndex | undefined,
): void {
  const places = new Places(searchPlaces, 'searches under way')
  adderOf(app, table)(
    'GET /v1/workspaces/:workspace/search',
    { access: ['search'] },
    async (request, reply) => {
      const leave = takePlace(places, request, reply, 'search')
      try {
        const target = await openTarget(workspaces, request)
        const asked = readSearch(request.query)
        const place = {
          request: target,
          searched: await openSearchTarget(target),
          index: index?.of(target.workspace),
        }
        return await rankedSearch(place, asked)
      } finally {
        leave()
      }
    },
  )
}

function readSearch(query: SearchQuery): AskedSearch {
  const { q, glob, type, unrestricted = 0, limit, timeMs } = query
  const stems = stemsOf(q)
  if (stems.length === 0)
    throw new CairnError('invalid_argument', {
      what: `search for '${q}'`,
      reason: 'it has no letter and no digit',
      hint: 'Ask with words. For other characters there is cairn fs grep.',
      subject: 'q',
    })
  const filter = makeFilter([glob ?? []].flat(), [type ?? []].flat(), unrestricted)
  return { stems, path: pathOfQuery(query) ?? '/', filter, limit, timeMs }
}
