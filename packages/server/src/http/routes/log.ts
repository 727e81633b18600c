import { decodeBatch } from '@cairn/core'
import { type ByteString, formatPath, type LogEntry, type Name, type Page } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import { concerns, describeBatch } from '../../log/describe.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { openTarget, type Target } from '../context.ts'
import { pathOfText } from '../raw-path.ts'
import { branchQuery, limitSchema, objectSchema, workspaceParams } from '../schema.ts'

interface LogQuery {
  readonly after?: number
  readonly limit: number
  readonly path?: string
  readonly actor?: string
  readonly cursor?: string
}

/** How many batches one request looks at for those it was asked for. */
const scannedMax = 20_000
const rowsAtOnce = 500

export function logRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  app.get<{ Querystring: LogQuery }>(
    '/v1/workspaces/:workspace/log',
    {
      schema: {
        summary: 'Who changed what, and when; oldest first',
        params: workspaceParams,
        querystring: objectSchema({
          ...branchQuery,
          after: { type: 'integer', minimum: 0 },
          cursor: { type: 'string', pattern: '^\\d+$' },
          limit: limitSchema,
          path: { type: 'string' },
          actor: { type: 'string' },
        }),
      },
    },
    async (request) => {
      const target = await openTarget(workspaces, request)
      const { path, actor, limit, cursor, after = 0 } = request.query
      const shown = path === undefined ? undefined : displayPath(pathOfText(path))
      const wanted = (entry: LogEntry): boolean =>
        (actor === undefined || entry.actor === actor) &&
        (shown === undefined || entry.operations.some((operation) => concerns(operation, shown)))
      return scanLog(target, cursor === undefined ? after : Number(cursor), limit, wanted)
    },
  )
}

/** The batches that touched a path, newest first. */
export async function historyPage(
  target: Target,
  path: ByteString,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string },
): Promise<Page<LogEntry>> {
  const shown = displayPath(path)
  const all: LogEntry[] = []
  const touches = (entry: LogEntry): boolean =>
    entry.operations.some(({ path, to }) => path === shown || to === shown)
  for (let page: Page<LogEntry> = { items: [], next: '0' }; page.next !== undefined;) {
    page = await scanLog(target, Number(page.next), 1000, touches)
    all.push(...page.items)
  }
  const before = cursor === undefined ? Infinity : Number(cursor)
  const newest = all.filter(({ seq }) => seq < before).reverse()
  const items = newest.slice(0, limit)
  return newest.length > limit ? { items, next: String(items.at(-1)!.seq) } : { items }
}

async function scanLog(
  { workspace, branch }: Target,
  after: number,
  limit: number,
  wanted: (entry: LogEntry) => boolean,
): Promise<Page<LogEntry>> {
  const items: LogEntry[] = []
  for (let scanned = 0; scanned < scannedMax;) {
    const rows = await workspace.stores.log.read(branch.id, after, rowsAtOnce)
    for (const row of rows) {
      if (items.length === limit) return { items, next: String(after) }
      const entry = await workspace.read(branch, (view) =>
        describeBatch(view, decodeBatch(row.bytes)),
      )
      after = row.seq
      if (wanted(entry)) items.push(entry)
    }
    if (rows.length < rowsAtOnce) return { items }
    scanned += rows.length
  }
  return { items, next: String(after) }
}

function displayPath(path: ByteString): string {
  return formatPath(path.split('/').filter((part) => part !== '') as Name[])
}
