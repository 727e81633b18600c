import { accessOperations } from '@cairn/protocol'
import { findRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import { Places } from '../../access/places.ts'
import { findDirectory, readWalkCursor } from '../../files/walk.ts'
import { lastActors } from '../../history/last-actors.ts'
import { find, type FindConditions } from '../../search/find.ts'
import { compileNameGlob } from '../../search/grep-query.ts'
import { openSearchTarget } from '../../search/search-target.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf, type RequestOf } from '../add-routes.ts'
import { openTarget, requireHistory, type Target } from '../context.ts'
import { pathOfQuery } from '../path-query.ts'
import { sendLines } from '../send-lines.ts'
import { takePlace } from '../take-place.ts'
import { nanosecondsOfQuery } from '../time-query.ts'
import { searchPlaces } from './grep.ts'

type FindQuery = RequestOf<(typeof table)['GET /v1/workspaces/:workspace/find']>['query']

export function findRoute(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  const places = new Places(searchPlaces, 'searches under way')
  adderOf(app, table)(
    'GET /v1/workspaces/:workspace/find',
    { access: accessOperations },
    async (request, reply) => {
      const { query } = request
      reply.raw.once('close', takePlace(places, request, reply, 'find files'))
      const target = await openTarget(workspaces, request)
      const conditions = await readConditions(target, query)
      const tree = await openSearchTarget(target)
      const path = pathOfQuery(query) ?? '/'
      const top = await tree.nodes.read(() => findDirectory(tree.view, path, tree.grant))
      const budget = { timeMs: query.timeMs, entries: query.limit }
      const cursor = query.cursor === undefined ? [] : readWalkCursor(query.cursor, true)
      return sendLines(reply, request, find(tree, top, { conditions, budget, cursor }))
    },
  )
}

async function readConditions(target: Target, query: FindQuery): Promise<FindConditions> {
  const { name, kind, sizeMin, sizeMax, newer, older, tag, changedBy } = query
  return {
    name: name === undefined ? undefined : compileNameGlob(name),
    kind,
    sizeMin,
    sizeMax,
    newerNs: nanosecondsOfQuery('newer', newer),
    olderNs: nanosecondsOfQuery('older', older),
    tags: [tag ?? []].flat(),
    isChanged: changedBy === undefined ? undefined : await readActors(target, changedBy),
  }
}

async function readActors(target: Target, actor: string): Promise<(path: string) => boolean> {
  requireHistory(target, 'find by actor')
  const actors = await lastActors(target.workspace, target, target.asker.gone)
  return (path) => actors.get(path) === actor
}
