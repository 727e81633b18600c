import { type Batch, diffPaths, type Snapshot } from '@cairn/core'
import type { BranchId, ByteString, LogEntry, LogOperation } from '@cairn/protocol'
import { readPointInSteps } from '../points/read-point.ts'
import { spellPath } from '../files/spelling.ts'
import type { Point } from '../points/references.ts'
import type { Branches } from '../workspaces/branches.ts'
import { concerning, describeBatch } from './describe.ts'
import { isGone, type HistoryStep, walkHistory } from './history-walk.ts'

/**
 * What happened at a path or below it, with every path as it was then; and what happened elsewhere to things that are
 * there now, or at the point. So neither what has gone nor what has moved is left out. A commit is preceded by what the layer did there,
 * in its own log.
 */
export async function* readPathLog(
  workspace: Branches,
  point: Point,
  path: ByteString,
  isWanted: (batch: Batch) => boolean,
  gone?: AbortSignal,
): AsyncGenerator<LogEntry> {
  const isConcerned = concerning(path, 'below')
  for await (const step of walkHistory(workspace, point.branch, { until: point.seq, gone })) {
    const { batch } = step
    const isCommit = batch.body.type === 'root' && batch.body.change.cause === 'commit'
    if (!isCommit && !isWanted(batch)) continue
    const entry = await describeStep(workspace, step)
    const now = await readPointInSteps(workspace, point, (view) => describeBatch(view, batch))
    const isRoot = batch.body.type === 'root'
    const operations = (entry ?? now).operations.filter(
      (then, index) => isConcerned(then) || (!isRoot && isConcerned(now.operations[index]!)),
    )
    if (operations.length === 0) continue
    if (isCommit) yield* readLayerLog(workspace, batch, path, isWanted, gone)
    if (isWanted(batch)) yield { ...now, operations }
  }
}

/** What a layer did before it was committed. Empty when it was deleted since. */
async function* readLayerLog(
  workspace: Branches,
  { body }: Batch,
  path: ByteString,
  isWanted: (batch: Batch) => boolean,
  gone: AbortSignal | undefined,
): AsyncGenerator<LogEntry> {
  if (body.type !== 'root') return
  const record = await workspace.layers.findByBranch(body.change.subject as BranchId)
  if (!record) return
  const branch = await workspace.openBranch(record.branch)
  for await (const entry of readPathLog(workspace, { branch }, path, isWanted, gone))
    yield { layer: record.id, ...entry }
}

/** With paths as they were then; undefined where the trees of then are gone. */
async function describeStep(
  workspace: Branches,
  { batch, views }: HistoryStep,
): Promise<Pick<LogEntry, 'operations'> | undefined> {
  if (!views) return undefined
  if (batch.body.type === 'root') {
    const { cause, subject, before, after } = batch.body.change
    const op = subject === '' ? cause : `${cause} ${subject}`
    return { operations: await listRootChange(workspace, op, before, after) }
  }
  const { nodes } = workspace.stores
  const after = await nodes.readSteps(() => describeBatch(views.after, batch))
  const before = await nodes.readSteps(() => describeBatch(views.before, batch))
  // What the batch took away is named as it was before.
  const operations = after.operations.map((operation, index) =>
    operation.path === undefined ? before.operations[index]! : operation,
  )
  return { operations }
}

async function listRootChange(
  { stores }: Pick<Branches, 'stores'>,
  op: string,
  from: Snapshot,
  to: Snapshot,
): Promise<readonly LogOperation[]> {
  try {
    const changes = await diffPaths(stores.nodes, from, to)
    return changes.map(({ path, from: old }) => ({
      op,
      ...spellPath('path', old ?? path),
      ...(old ? spellPath('to', path) : {}),
    }))
  } catch (error) {
    if (isGone(error)) return [{ op, path: '/' }]
    throw error
  }
}
