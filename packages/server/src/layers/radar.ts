import {
  type Branch,
  diffPaths,
  findBase,
  type FoldPoint,
  type PathChange,
  type Snapshot,
} from '@cairn/core'
import { type BranchId, formatPath, type LayerOverlap, type RadarEvent } from '@cairn/protocol'
import type { Workspace } from '../workspaces/workspace.ts'
import { comparedMax, pathsOf, type RealPlace, siblingsOf } from './merging.ts'
import { placeOf, targetOf } from './references.ts'

/** More would be a list that nobody reads; `layer status` has them all. */
const toldMax = 200

/** Two points of somebody's line: what it began with, and what it is. */
interface Line {
  readonly id: string
  readonly name: string | undefined
  readonly base: Snapshot
  readonly head: Snapshot
}

/** What a line has changed, by path, as it was last looked at. */
interface Seen {
  readonly roots: string
  readonly paths: ReadonlyMap<string, PathChange>
}

/**
 * Tells a layer, while it is worked on, which of its paths somebody else has changed too: the parent, or a sibling, as
 * far as the server has taken their writes in. A look costs what has changed since the last one; who wrote nothing
 * costs no more than being asked.
 */
export class Radar {
  readonly #workspace: Workspace
  readonly #place: RealPlace
  readonly #seen = new Map<string, Seen>()
  readonly #folded = new Map<BranchId, FoldPoint>()
  #told = new Set<string>()

  constructor(workspace: Workspace, place: RealPlace) {
    this.#workspace = workspace
    this.#place = place
  }

  /** What is new since the last look; all there is at the first. Undefined when there is nothing. */
  async look(): Promise<RadarEvent | undefined> {
    const lines = await this.#lines()
    const mine = await this.#changesOf(lines.own)
    const found = new Map<string, LayerOverlap>()
    for (const line of lines.others) {
      const theirs = await this.#changesOf(line)
      for (const [path, change] of overlapping(mine, theirs))
        found.set(`${line.id} ${change.kind} ${path}`, describeOverlap(line, change))
    }
    const news = [...found].filter(([key]) => !this.#told.has(key)).map(([, overlap]) => overlap)
    // What is over may come again, and is news then.
    this.#told = new Set(found.keys())
    if (news.length === 0) return undefined
    return {
      layer: this.#place.id,
      overlaps: news.slice(0, toldMax),
      more: Math.max(0, news.length - toldMax),
    }
  }

  async #lines(): Promise<{ readonly own: Line; readonly others: readonly Line[] }> {
    const { stores } = this.#workspace
    const { branch, record, id } = this.#place
    const parent = await targetOf(this.#workspace, this.#place)
    const { base } = await findBase(stores, branch)
    const own = { id, name: record.name, base, head: await this.#headOf(branch) }
    const target = await this.#headOf(parent.branch)
    const others: Line[] = [{ id: parent.id, name: parent.record?.name, base, head: target }]
    const siblings = await siblingsOf(this.#workspace, record)
    // The newest: they are the ones that are being worked on.
    for (const sibling of siblings.slice(-comparedMax)) {
      const { id, name } = sibling
      const { branch } = await placeOf(this.#workspace, sibling)
      const { base } = await findBase(stores, branch)
      others.push({ id, name, base, head: await this.#headOf(branch) })
    }
    return { own, others }
  }

  /** Folded only where it has moved: every look would leave a tree behind. */
  async #headOf(branch: Branch): Promise<Snapshot> {
    if (this.#workspace.isShared) await branch.refresh()
    const last = this.#folded.get(branch.id)
    if (last?.seq === branch.head.position.seq) return last.snapshot
    const folded = await branch.fold()
    this.#folded.set(branch.id, folded)
    return folded.snapshot
  }

  async #changesOf({ id, base, head }: Line): Promise<Seen['paths']> {
    const roots = `${base.root} ${head.root}`
    const seen = this.#seen.get(id)
    if (seen?.roots === roots) return seen.paths
    const changes =
      base.root === head.root ? [] : await diffPaths(this.#workspace.stores.nodes, base, head)
    const paths = new Map(
      changes.flatMap((change) => pathsOf(change).map((path) => [path, change] as const)),
    )
    this.#seen.set(id, { roots, paths })
    return paths
  }
}

/** From the smaller side. */
function* overlapping(
  mine: Seen['paths'],
  theirs: Seen['paths'],
): Generator<readonly [string, PathChange]> {
  const smaller = mine.size < theirs.size ? mine : theirs
  for (const path of smaller.keys())
    if (mine.has(path) && theirs.has(path)) yield [path, theirs.get(path)!]
}

function describeOverlap({ id, name }: Line, { path, kind }: PathChange): LayerOverlap {
  return { path: formatPath(path), with: id, ...(name === undefined ? {} : { name }), kind }
}
