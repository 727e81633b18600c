import { type BranchId, CairnError, isCairnError, type SessionId } from '@cairn/protocol'
import type { BranchState } from '../history/batch.ts'
import type { Branch } from '../history/branch.ts'
import type { Author } from '../history/draft.ts'
import type { BranchRecord } from '../ports/ref-store.ts'
import type { Stores } from '../ports/stores.ts'

export interface LayerAuthor {
  readonly layer: Branch
  readonly author: Pick<Author, 'actor' | 'time'>
}

/** Under which session the log has what was done to a layer as a whole. */
export function layerSession(what: string, layer: BranchId): SessionId {
  return `${what}:${layer}` as SessionId
}

/** One number for one state of the layer: asking again for the same gives the first answer again. */
export function authorOf({ layer, author }: LayerAuthor, what: string, seq: number): Author {
  return { ...author, session: layerSession(what, layer.id), number: seq + 1 }
}

/** Gives a layer up. Its history stays until it is collected; `reopenLayer` brings it back. */
export async function abandonLayer(layer: Branch, author: LayerAuthor['author']): Promise<void> {
  const { state, seq } = layer.head.position
  if (state === 'committed') throw layerClosed(layer, 'abandon')
  if (state !== 'abandoned') await setState({ layer, author }, 'abandoned', seq)
}

export async function reopenLayer(layer: Branch, author: LayerAuthor['author']): Promise<void> {
  const { state, seq } = layer.head.position
  // What a commit took is in the parent now: a new layer starts from there.
  if (state === 'committed') throw layerClosed(layer, 'reopen')
  if (state === 'abandoned') await setState({ layer, author }, 'open', seq)
}

/** False when the layer has been written to since. */
export async function trySetState(
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
    throw error
  }
}

/** Whoever writes meanwhile only has it tried again. */
export async function endConflict(options: LayerAuthor): Promise<void> {
  const { head } = options.layer
  while (head.position.state === 'conflicted') await trySetState(options, 'open', head.position)
}

async function setState(options: LayerAuthor, state: BranchState, seq: number): Promise<void> {
  // A session for each state: who abandons a layer while it is committed must not be told that it worked.
  await options.layer.changeState(authorOf(options, state, seq), state, seq)
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
    message: `cannot ${verb} layer ${layer.id}: it is ${layer.head.position.state}`,
    subject: layer.id,
  })
}
