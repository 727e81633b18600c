import { CairnError, type HashedEntry } from '@cairn/protocol'
import { findEntries } from '../journal/find.ts'
import { requireEnds, requireLayer } from '../layers/scoped-layers.ts'
import { isShown } from '../layers/layer-names.ts'
import { listLayers } from '../layers/layers.ts'
import { seeChange } from '../access/visible-diff.ts'
import { visibleEntry } from '../access/visible-log.ts'
import { listCheckpoints } from '../points/checkpoints.ts'
import { findEnds, listDiff } from '../points/diff.ts'
import { scanLog } from '../history/scan-log.ts'
import type { LayerRecord } from '../ports/layer-store.ts'
import type { SqlRequestTarget } from './run-sql.ts'
import { type Comparison, refused } from './statement.ts'
import type { SideTable, SqlRow } from './tables.ts'

/** Newest first; what is older is not in the table `log`. */
const operationsMax = 100_000
const atOnce = 1000

async function logRows(target: SqlRequestTarget): Promise<readonly SqlRow[]> {
  const { workspace, asker, scope } = target
  const see = scope && {
    see: (entry: Parameters<typeof visibleEntry>[1]) => visibleEntry(scope.grant, entry),
  }
  const rows: SqlRow[] = []
  for (let before = Infinity; rows.length < operationsMax;) {
    const range = { order: 'newest', after: 0, before, limit: atOnce } as const
    const page = await scanLog(workspace, target, range, { gone: asker.gone, ...see })
    for (const { seq, time, actor, session, toolCall, operations } of page.items)
      for (const { op, path, to } of operations)
        rows.push([seq, time, actor, session, toolCall ?? null, op, path ?? null, to ?? null])
    if (page.next === undefined) break
    before = Number(page.next)
  }
  return rows
}

async function layerRows({ workspace, scope }: SqlRequestTarget): Promise<readonly SqlRow[]> {
  const isSeen = scope && ((layer: LayerRecord) => isShown(scope.grant, layer.id, layer.path))
  const rows: SqlRow[] = []
  for (let cursor: string | undefined; ;) {
    const page = await listLayers(workspace, {}, cursor, atOnce, isSeen)
    for (const layer of page.items)
      rows.push([
        layer.id,
        layer.name ?? null,
        layer.parent,
        layer.path,
        layer.state,
        JSON.stringify(layer.tags),
        layer.message,
        layer.createdBy,
        layer.createdAt,
      ])
    cursor = page.next
    if (cursor === undefined) return rows
  }
}

async function checkpointRows(target: SqlRequestTarget): Promise<readonly SqlRow[]> {
  const { workspace, scope } = target
  const layer = await layerOf(target)
  if (scope) await requireLayer(workspace, scope, layer, 'list')
  const checkpoints = await listCheckpoints(workspace, layer)
  return checkpoints.map(({ id, label, seq, root, createdAt }) => [id, label, seq, root, createdAt])
}

export async function changeRows(
  target: SqlRequestTarget,
  { from, to }: Comparison,
): Promise<readonly SqlRow[]> {
  const { workspace, scope } = target
  const layer = await layerOf(target)
  if (scope) await requireEnds(workspace, scope, layer, [from, to])
  const found = await findEnds(workspace, layer, from, to)
  const ends = scope ? { ...found, see: seeChange(scope.grant, 'list') } : found
  const changes = await listDiff(workspace, ends)
  return changes.map(({ path, kind, fileKind, from: was }) => [path, kind, fileKind, was ?? null])
}

/** As a reference: a layer's id, or `main`. */
async function layerOf({ workspace, branch }: SqlRequestTarget): Promise<string> {
  return (await workspace.layers.findByBranch(branch.id))?.id ?? 'main'
}

/** Journals are for owners, here as elsewhere. */
async function journalRows({
  workspace,
  scope,
  journals,
}: SqlRequestTarget): Promise<readonly SqlRow[]> {
  if (scope)
    throw new CairnError('forbidden', {
      what: 'read the table journal',
      reason: 'journals are read with an owner key',
      hint: 'Use an owner key, or leave the table out.',
    })
  const rows: SqlRow[] = []
  if (!journals) return rows
  for (let cursor: string | undefined; ;) {
    const page = await findEntries(journals, workspace.info.id, {}, cursor, atOnce)
    for (const entry of page.items) rows.push(journalRow(entry))
    cursor = page.next
    if (cursor === undefined) return rows
    if (rows.length >= operationsMax)
      throw refused(
        `the journals have more than ${operationsMax} entries`,
        'Use cairn journal find, which reads them page by page.',
      )
  }
}

function journalRow(entry: HashedEntry): SqlRow {
  const json = (value: unknown): string | null =>
    value === undefined ? null : JSON.stringify(value)
  const { journal, seq, time, type, actor, status, summary, subjects, labels } = entry
  return [
    journal,
    seq,
    time,
    type,
    actor ?? null,
    status ?? null,
    typeof summary === 'string' ? summary : json(summary),
    json(subjects),
    json(labels),
    entry.occurredAt ?? null,
    entry.by,
    entry.toolCall ?? null,
    entry.hash,
  ]
}

type FillTable = (target: SqlRequestTarget) => Promise<readonly SqlRow[]>

/** Reads the rows of a table that is filled for a statement. */
export const sideRows: Readonly<Record<SideTable, FillTable>> = {
  log: logRows,
  layers: layerRows,
  checkpoints: checkpointRows,
  journal: journalRows,
}
