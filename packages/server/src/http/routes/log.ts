import type { Batch } from '@cairn/core'
import { type ByteString, CairnError, type LogEntry, type Page } from '@cairn/protocol'
import { logRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import type { Scope } from '../../access/access.ts'
import { visibleEntry } from '../../access/visible-log.ts'
import { blame } from '../../history/blame.ts'
import { concerning } from '../../history/describe.ts'
import { readPathLog } from '../../history/path-log.ts'
import { type LogFilter, type LogOrder, type LogRange, scanLog } from '../../history/scan-log.ts'
import { tryUndo, undoChanges } from '../../merging/undo-changes.ts'
import { millisecondsOf } from '../../ports/clock.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf, type RequestOf } from '../add-routes.ts'
import { openTarget, requireHistory, type Target } from '../context.ts'
import { pathOfQuery } from '../path-query.ts'
import { bytesOfText, checkPath } from '../raw-path.ts'

interface PageQuery {
  readonly limit: number
  readonly cursor?: string
  readonly order?: LogOrder
}

type LogQuery = RequestOf<(typeof table)['GET /v1/workspaces/:workspace/log']>['query']

export function logRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'GET /v1/workspaces/:workspace/log',
    { access: ['read', 'list'] },
    async (request) => {
      const target = await openTarget(workspaces, request)
      const { workspace, asker } = target
      const { query } = request
      const path = pathOfQuery(query)
      requireHistory(target, 'read the log')
      // Where a file was before may be hidden from a token, which is told of the path alone.
      if (query.paths === 'then' && path !== undefined && !asker.scope)
        return pathLogPage(target, path, query)
      const filter: LogFilter = {
        batch: batchFilter(query),
        gone: asker.gone,
        ...seenBy(asker.scope),
        ...(path === undefined ? {} : { entry: someOperation(concerning(path, 'below')) }),
      }
      return scanLog(workspace, target, rangeOf(query), filter)
    },
  )
}

export function blameRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'GET /v1/workspaces/:workspace/blame',
    // It tells where a file has been, which may be where a token does not reach.
    { access: 'owner' },
    async (request) => {
      const target = await openTarget(workspaces, request)
      requireHistory(target, 'tell who changed a file')
      return blame(target.workspace, target, pathOfQuery(request.query) ?? '/', request.gone)
    },
  )
}

export function undoRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  adderOf(app, table)(
    'POST /v1/workspaces/:workspace/undo',
    { access: ['write'] },
    async (request) => {
      const target = await openTarget(workspaces, request)
      const { toolCall, actor, path = '/', since, dryRun = false } = request.body
      const wanted = {
        toolCall,
        actor,
        path: checkPath(bytesOfText(path)),
        sinceMs: timeOf('since', since),
      }
      return (dryRun ? tryUndo : undoChanges)(target.workspace, target.asker, target, wanted)
    },
  )
}

/** A cursor is how many there were at first, so that what comes meanwhile moves nothing, and how many were given. */
async function pathLogPage(
  target: Target,
  path: ByteString,
  query: LogQuery,
): Promise<Page<LogEntry>> {
  const { limit, after = 0, before = Infinity, order, cursor } = query
  const isWanted = batchFilter(query)
  const entries: LogEntry[] = []
  const { workspace, asker } = target
  for await (const entry of readPathLog(workspace, target, path, isWanted, asker.gone)) {
    const isInside = entry.layer !== undefined || (entry.seq > after && entry.seq < before)
    if (isInside) entries.push(entry)
  }
  const [total = entries.length, given = 0] = (cursor?.split('.') ?? []).map(Number)
  if (!Number.isSafeInteger(total) || !Number.isSafeInteger(given)) throw badCursor(cursor!)
  const first = entries.slice(0, total)
  const ordered = order === 'newest' ? first.toReversed() : first
  const items = ordered.slice(given, given + limit)
  const end = given + items.length
  return end < ordered.length ? { items, next: `${total}.${end}` } : { items }
}

/** The batches that touched a path, newest first unless asked for otherwise. */
export function historyPage(
  target: Target,
  path: ByteString,
  query: PageQuery,
): Promise<Page<LogEntry>> {
  const { workspace, asker } = target
  requireHistory(target, 'tell the history of a path')
  const entry = someOperation(concerning(path, 'exactly'))
  const filter = { ...seenBy(asker.scope), entry, gone: asker.gone }
  return scanLog(workspace, target, rangeOf({ order: 'newest', ...query }), filter)
}

function seenBy(scope: Scope | undefined): LogFilter {
  return scope ? { see: (entry) => visibleEntry(scope.grant, entry) } : {}
}

/** A cursor is where the page before ended: it takes the place of the bound on that side. */
function rangeOf(query: PageQuery & Pick<LogQuery, 'after' | 'before'>): LogRange {
  const { order = 'oldest', after = 0, before = Infinity, limit } = query
  const seq = cursorOf(query.cursor)
  if (seq === undefined) return { order, after, before, limit }
  return order === 'oldest'
    ? { order, after: Math.max(after, seq), before, limit }
    : { order, after, before: Math.min(before, seq), limit }
}

function cursorOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const seq = Number(cursor)
  if (/^\d+$/.test(cursor) && Number.isSafeInteger(seq)) return seq
  throw badCursor(cursor)
}

function badCursor(cursor: string): CairnError {
  return new CairnError('invalid_argument', {
    what: `go on after cursor '${cursor}'`,
    reason: `it is none of this listing's`,
  })
}

function batchFilter({ actor, since, until }: LogQuery): (batch: Batch) => boolean {
  const [from, to] = [timeOf('since', since) ?? -Infinity, timeOf('until', until) ?? Infinity]
  return (batch) => {
    const ms = millisecondsOf(batch.time)
    return (actor === undefined || batch.actor === actor) && ms >= from && ms < to
  }
}

function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  if (!Number.isNaN(ms)) return ms
  throw new CairnError('invalid_argument', {
    what: `read ${name}`,
    reason: 'want a time such as 2026-11-02T10:00:00Z',
    subject: name,
  })
}

function someOperation(
  isIt: (operation: LogEntry['operations'][number]) => boolean,
): (entry: LogEntry) => boolean {
  return ({ operations }) => operations.some(isIt)
}
