import type { Hash, Ino } from '@cairn/protocol'
import type { Snapshot } from '../ports/records.ts'
import { weighEntry } from '../filesystem/values.ts'
import { applyEdits } from '../tree/apply.ts'
import type { Nodes } from '../tree/nodes.ts'
import { ConflictBook, type DecisionOptions } from './conflict-book.ts'
import type { Conflict } from './conflict.ts'
import { mergeEdits } from './merge-edits.ts'
import { mergeObject, type MergeState } from './merge-object.ts'
import { collectChanged } from './objects.ts'
import { orphansBeside } from './orphans.ts'
import { Side } from './sides.ts'
import { fitTogether } from './structure.ts'
import type { MergeInput } from './touched.ts'

export interface MergeTreesOptions extends MergeInput, DecisionOptions {}

export type MergeResult =
  | { readonly type: 'merged'; readonly snapshot: Snapshot }
  | { readonly type: 'conflicted'; readonly conflicts: readonly Conflict[] }

/**
 * Brings a layer's changes into its target: three-way, over what the two sides changed since the base. The
 * target's own tree is never touched; without conflicts the result is a new one, every node of it stored.
 *
 * What is merged are things, not paths: a file that one side moved and the other edited is one file. Of each
 * thing content, attributes and names are merged apart; then everything must fit together as a tree.
 */
export async function merge(options: MergeTreesOptions): Promise<MergeResult> {
  const { nodes, blobs, target } = options
  // Nothing happened beside the layer, so its tree is the answer: a large import is not looked at a second time.
  if (options.base.root === target.root) return merged(nodes, options.layer.root, target)
  const sides = {
    base: new Side(nodes, options.base),
    layer: new Side(nodes, options.layer),
    target: new Side(nodes, target),
  }
  const book = new ConflictBook(options, sides)
  const states = new Map<Ino, MergeState>()
  for (const [id, object] of await collectChanged(nodes, options, sides)) {
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
    states.set(id, await mergeObject(book, object))
  }
  await fitTogether(nodes, book, states)
  const conflicts = await book.list()
  if (conflicts.length > 0) return { type: 'conflicted', conflicts }
  const edits = await mergeEdits(states, sides, nodes, blobs)
  const { root, created } = await applyEdits(nodes, target.root, edits, weighEntry)
  await nodes.store(created)
  return merged(nodes, root, target)
}

async function merged(nodes: Nodes, root: Hash, { orphans }: Snapshot): Promise<MergeResult> {
  return { type: 'merged', snapshot: { root, orphans: await orphansBeside(nodes, root, orphans) } }
}
