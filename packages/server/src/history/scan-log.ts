import { type Batch, type Branch, decodeInSteps, type LogRow, type LogStore } from '@cairn/core'
import type { LogEntry, Page } from '@cairn/protocol'
import { requirePresent } from '../access/present.ts'
import { readPointInSteps } from '../points/read-point.ts'
import type { Point } from '../points/references.ts'
import type { Branches } from '../workspaces/branches.ts'
import { describeBatch } from './describe.ts'

export type LogOrder = 'oldest' | 'newest'

export interface LogRange {
  readonly order: LogOrder
  /** Both exclusive. */
  readonly after: number
  readonly before: number
  readonly limit: number
}

/** What an entry must be; the first question is the cheaper one. */
export interface LogFilter {
  readonly batch?: (batch: Batch) => boolean
  readonly entry?: (entry: LogEntry) => boolean
  /** The part of an entry that the caller may see; nothing else is looked up. */
  readonly see?: (entry: LogEntry) => LogEntry | undefined
  /** Ends the scan by throwing. */
  readonly gone?: AbortSignal | undefined
}

/**
 * One request looks at no more than this of the log, whatever it looks for: then the page ends, empty perhaps, and
 * says where to go on. What it reads is what it answers, as long as nothing is left out.
 */
const operationsMax = 20_000
const bytesMax = 16 << 20
const rowsAtOnce = 256

/** A page of the log of a branch, in either direction; of a checkpoint, up to it and with the names of then. */
export async function scanLog(
  workspace: Pick<Branches, 'stores' | 'read'>,
  point: Point,
  { order, after, before, limit }: LogRange,
  filter: LogFilter = {},
): Promise<Page<LogEntry>> {
  const { branch } = point
  // Other servers may have written to it.
  await branch.refresh()
  const newest = point.seq ?? branch.head.position.seq
  const span = { first: after + 1, last: Math.min(before - 1, newest) }
  const read = order === 'oldest' ? readUp : readDown
  const end = order === 'oldest' ? span.last : span.first
  const { nodes } = workspace.stores
  const items: LogEntry[] = []
  let [operations, bytes] = [0, 0]
  for await (const row of read(workspace.stores.log, branch, span, limit)) {
    requirePresent(filter.gone)
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
    const batch = await nodes.run(decodeInSteps(row.bytes))
    bytes += row.bytes.length
    operations += batch.body.type === 'ops' ? 1 + batch.body.ops.length : 1
    const entry = await describeWanted(workspace, point, batch, filter)
    if (entry) items.push(entry)
    const isEnough = items.length === limit || operations >= operationsMax || bytes >= bytesMax
    if (isEnough && row.seq !== end) return { items, next: String(row.seq) }
  }
  return { items }
}

async function describeWanted(
  workspace: Pick<Branches, 'stores' | 'read'>,
  point: Point,
  batch: Batch,
  filter: LogFilter,
): Promise<LogEntry | undefined> {
  if (filter.batch?.(batch) === false) return undefined
  const whole = await readPointInSteps(workspace, point, (view) => describeBatch(view, batch))
  const entry = filter.see ? filter.see(whole) : whole
  return entry && filter.entry?.(entry) === false ? undefined : entry
}

interface Span {
  readonly first: number
  readonly last: number
}

async function* readUp(
  log: LogStore,
  { id }: Branch,
  { first, last }: Span,
  limit: number,
): AsyncGenerator<LogRow> {
  for (let [seq, count] = [first, limit]; seq <= last; count *= 2) {
    const rows = await log.read(id, seq - 1, Math.min(count, rowsAtOnce, last - seq + 1))
    if (rows.length === 0) return
    yield* rows
    seq += rows.length
  }
}

/** The log has no gaps, so the rows below a number are known by their own. */
export async function* readDown(
  log: LogStore,
  { id }: Pick<Branch, 'id'>,
  { first, last }: Span,
  limit: number,
): AsyncGenerator<LogRow> {
  let count = Math.min(limit, rowsAtOnce)
  for (let seq = last; seq >= first;) {
    const wanted = Math.min(count, seq - first + 1)
    const rows = await log.read(id, seq - wanted, wanted)
    if (rows.length === 0) return
    if (rows.length < wanted) {
      // They were too many bytes, and those that came are the wrong end of them.
      count = Math.ceil(wanted / 4)
      continue
    }
    yield* rows.toReversed()
    seq -= rows.length
    count = Math.min(count * 2, rowsAtOnce)
  }
}
