import { type Ino, rootIno } from '@cairn/protocol'
import type { Nodes } from '../tree/nodes.ts'
import type { MergeState } from './merge-object.ts'
import type { Side } from './sides.ts'
import type { SideName } from './touched.ts'
import { hasLink } from './version.ts'

/** Directories each of which is in the next, and the last in the first. */
export interface Cycle {
  /** Those that changed; others may lie between them. */
  readonly states: readonly MergeState[]
  readonly movedByLayer: MergeState
  readonly movedByTarget: MergeState
}

/** Each side moved a directory into what the other moved into it, or into something below that. */
export async function findCycles(
  { pacer }: Nodes,
  states: ReadonlyMap<Ino, MergeState>,
  target: Side,
): Promise<readonly Cycle[]> {
  const cycles: Cycle[] = []
  const passed = new Set<Ino>([rootIno])
  for (const state of states.values()) {
    if (pacer.isDue()) await pacer.rest()
    // The target has no cycle, so every one of ours has a link that is the layer's alone.
    if (!isMovedBy('layer', state)) continue
    const way = await walkUp(states, target, passed, state.object.id)
    if (way.length > 0) cycles.push(describe(way.flatMap((ino) => states.get(ino) ?? [])))
    for (const ino of way) passed.add(ino)
  }
  return cycles
}

/** The members of the cycle that the way up ends in; empty when it ends at the root or meets a known way. */
async function walkUp(
  states: ReadonlyMap<Ino, MergeState>,
  target: Side,
  passed: Set<Ino>,
  start: Ino,
): Promise<readonly Ino[]> {
  const way: Ino[] = []
  const onWay = new Set<Ino>()
  for (let at: Ino | undefined = start; at !== undefined && !passed.has(at);) {
    if (onWay.has(at)) return way.slice(way.indexOf(at))
    way.push(at)
    onWay.add(at)
    const state = states.get(at)
    at = state ? state.merged?.links[0]?.parent : await target.parentOf(at)
  }
  for (const ino of way) passed.add(ino)
  return []
}

function describe(states: readonly MergeState[]): Cycle {
  const first = (side: SideName): MergeState =>
    states
      .filter((state) => isMovedBy(side, state))
      .reduce((a, b) => (a.object.id < b.object.id ? a : b))
  return { states, movedByLayer: first('layer'), movedByTarget: first('target') }
}

/** Whether a directory that both sides have is where only this one has it. */
function isMovedBy(side: SideName, { object, merged }: MergeState): boolean {
  const [link] = merged?.inode.kind === 'directory' ? merged.links : []
  if (!link || !object.layer || !object.target) return false
  return !hasLink((side === 'layer' ? object.target : object.layer).links, link)
}
