import { merge } from '@cairn/core'
import { formatPath, type LayerDecision } from '@cairn/protocol'
import type { Branches } from '../workspaces/branches.ts'
import type { MergeSides } from './merge-sides.ts'

/**
 * Which conflicts of a merge were decided, and how. Decisions are kept by the conflict's id, which tells no path: so the
 * merge is asked what it would meet without them. One may come to light only when another has been decided.
 */
export async function decisionsOf(
  { stores: { nodes, blobs } }: Pick<Branches, 'stores'>,
  {
    base,
    layer,
    target,
    resolutions,
  }: Pick<MergeSides, 'base' | 'layer' | 'target' | 'resolutions'>,
  mergeText: boolean,
): Promise<readonly LayerDecision[]> {
  const decided = new Map<string, LayerDecision>()
  while (decided.size < resolutions.length) {
    const known = resolutions.filter(({ conflict }) => decided.has(conflict))
    const sides = { base, layer, target }
    const result = await merge({ ...sides, nodes, blobs, mergeText, resolutions: known })
    if (result.type === 'merged') break
    const before = decided.size
    for (const { id, kind, path } of result.conflicts) {
      const choice = resolutions.find(({ conflict }) => conflict === id)?.choice
      if (!choice || decided.has(id)) continue
      const take = choice.type === 'bytes' ? 'content' : choice.type
      decided.set(id, { path: formatPath(path), kind, take })
    }
    if (decided.size === before) break
  }
  return [...decided.values()]
}
