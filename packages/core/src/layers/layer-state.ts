import { type BranchId, CairnError, isCairnError } from '@cairn/protocol'
import { type BranchState, isClosedState, type Position } from '../ports/records.ts'
import type { Branch } from '../history/branch.ts'
import { decodeOutline } from '../history/batch.ts'
import type { Author } from '../history/draft.ts'
import { layerSession } from '../history/session-ids.ts'
import type { LogStore } from '../ports/log-store.ts'
import type { BranchRecord } from '../ports/ref-store.ts'
import type { Stores } from '../history/stores.ts'

export interface LayerAuthor {
  readonly layer: Branch
  readonly author: Pick<Author, 'actor' | 'time' | 'toolCall'>
}

/** One number for one state of the layer: asking again for the same gives the first answer again. */
export function authorOf({ layer, author }: LayerAuthor, what: string, seq: number): Author {
  return { ...author, session: layerSession(what, layer.id), number: seq + 1 }
}

/** Gives a layer up. Its history stays until it is collected; `reopenLayer` brings it back. */
export async function abandonLayer(
  layer: Branch,
  author: LayerAuthor['author'],
  epoch?: number,
): Promise<void> {
  const { head } = layer
  while (head.position.state !== 'abandoned')
    await decideState({ layer, author }, 'abandoned', 'abandon', epoch)
}

export async function reopenLayer(layer: Branch, author: LayerAuthor['author']): Promise<void> {
  const { head } = layer
  // What a commit took is in the parent now: a new layer starts from there.
  if (head.position.state === 'committed') throw layerClosed(layer, 'reopen')
  while (head.position.state === 'abandoned') await decideState({ layer, author }, 'open', 'reopen')
}

/** In its turn, so that a busy writer is not in its way. Who asks at the same time may have been quicker. */
async function decideState(
  options: LayerAuthor,
  state: BranchState,
  verb: string,
  epoch?: number,
): Promise<void> {
  const { layer } = options
  const decide = (before: Position): BranchState => {
    if (before.state === 'committed') throw layerClosed(layer, verb)
    return state
  }
  try {
    await layer.changeState(authorOf(options, state, layer.head.position.seq), decide, epoch)
  } catch (error) {
    if (!isCairnError(error, 'batch_passed_over')) throw error
  }
  // An answer that the log had already is not in the head yet.
  await layer.refresh()
}

/** False when the layer has moved on since. */
async function trySetState(
  options: LayerAuthor,
  state: BranchState,
  { seq }: { readonly seq: number },
): Promise<boolean> {
  if (options.layer.head.position.state === state) return true
  try {
    await setState(options, state, seq)
    return true
  } catch (error) {
    if (isCairnError(error, 'sequence_conflict')) return false
    if (!isCairnError(error, 'batch_passed_over')) throw error
    // Another server has set it at a later place, which this one may not have seen.
    await options.layer.refresh()
    return options.layer.head.position.state === state
  }
}

/**
 * Decides the state of a layer by what it was at `point`. False when it was written to since, or has ended. A lease that
 * changed hands, or a place in the log that was taken to settle what is there, is no such change.
 */
export async function setStateUnlessChanged(
  { log }: Pick<Stores, 'log'>,
  options: LayerAuthor,
  state: BranchState,
  { seq }: { readonly seq: number },
): Promise<boolean> {
  const { layer } = options
  for (let at = seq; !(await trySetState(options, state, { seq: at }));) {
    await layer.refresh()
    const now = layer.head.position
    if (now.seq === at || isClosedState(now.state) || (await hasWorkSince(log, layer.id, seq)))
      return false
    at = now.seq
  }
  return true
}

/** Whether a place in the log of a branch is followed by a batch that changed its tree. */
async function hasWorkSince(log: LogStore, branch: BranchId, since: number): Promise<boolean> {
  for (let seq = since; ;) {
    const rows = await log.read(branch, seq, rowsAtOnce)
    const types = rows.map(({ bytes }) => decodeOutline(bytes).body.type)
    if (types.includes('ops') || types.includes('root')) return true
    if (rows.length === 0) return false
    seq = rows.at(-1)!.seq
  }
}

const rowsAtOnce = 64

/** Retries when a concurrent write wins. */
export async function endConflict(options: LayerAuthor): Promise<void> {
  const { layer } = options
  while (layer.head.position.state === 'conflicted') {
    await trySetState(options, 'open', layer.head.position)
    await layer.refresh()
  }
}

/** Rejects with `sequence_conflict` when the layer has moved on from `seq`. */
async function setState(options: LayerAuthor, state: BranchState, seq: number): Promise<void> {
  const { layer } = options
  const decide = (before: Position): BranchState => {
    if (before.seq === seq) return state
    throw new CairnError('sequence_conflict', {
      what: `make layer ${layer.id} ${state}`,
      reason: 'it has moved on',
      subject: layer.id,
    })
  }
  // A session for each state: who abandons a layer while it is committed must not be told that it worked.
  await layer.changeState(authorOf(options, state, seq), decide)
}

/** Whether a layer is over, without opening it: a few looks into an index of its log. */
export async function findClosedState(
  log: Pick<LogStore, 'find' | 'lastNumber'>,
  layer: BranchId,
): Promise<Extract<BranchState, 'committed' | 'abandoned'> | undefined> {
  const lastSeq = async (state: BranchState): Promise<number> => {
    const session = layerSession(state, layer)
    const number = await log.lastNumber(layer, session)
    return number === 0 ? 0 : (await log.find(layer, session, number))!.seq
  }
  if ((await lastSeq('committed')) > 0) return 'committed'
  const abandoned = await lastSeq('abandoned')
  return abandoned > 0 && abandoned > (await lastSeq('open')) ? 'abandoned' : undefined
}

export async function updateRecord(
  stores: Stores,
  id: BranchId,
  change: (record: BranchRecord) => Partial<BranchRecord>,
): Promise<void> {
  for (;;) {
    const record = await stores.refs.getBranch(id)
    const updated = { ...record, ...change(record), version: record.version + 1 }
    if (await stores.refs.updateBranch(updated)) return
  }
}

export function layerClosed(layer: Branch, verb: string): CairnError {
  return new CairnError('layer_closed', {
    what: `${verb} layer ${layer.id}`,
    reason: `the layer is ${layer.head.position.state}`,
    subject: layer.id,
  })
}
