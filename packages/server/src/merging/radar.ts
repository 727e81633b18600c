import {
  type Branch,
  diffPaths,
  type FoldPoint,
  type PathChange,
  readLayer,
  type Snapshot,
} from '@cairn/core'
import type { BranchId, LayerOverlap, RadarEvent } from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { type RealPlace, siblingsOf } from './merge-sides.ts'
import { describeOverlap, Footprint, type Other, type Sight } from './overlaps.ts'
import { placeOf, targetOf } from '../points/references.ts'

/** A longer list would not be read; `layer status` has them all. */
const toldMax = 200
/** A look must not take a minute in a workspace with a thousand attempts. */
const comparedMax = 100

/** Two points of a branch: where it began, and where it is. */
interface Line {
  readonly base: Snapshot
  readonly head: Snapshot
}

type OtherLine = Line & { readonly other: Other }

/** What was found at the last look, for as long as the roots are those. */
interface Known<T> {
  readonly roots: string
  readonly value: T
}

/**
 * Warns a layer, while it is worked on, which of its paths another one has changed too: the parent,
 * or a sibling, as far as the server has their writes. A look costs what has changed since the last
 * one; a branch without writes costs no more than the question.
 */
export class Radar {
  readonly #workspace: OpenWorkspace
  readonly #place: RealPlace
  readonly #sight: Sight | undefined
  readonly #overlaps = new Map<string, Known<readonly LayerOverlap[]>>()
  readonly #folded = new Map<BranchId, FoldPoint>()
  #own: Known<Footprint> | undefined
  #told = new Set<string>()

  /** Without a sight, everything is told. */
  constructor(workspace: OpenWorkspace, place: RealPlace, sight?: Sight) {
    this.#workspace = workspace
    this.#place = place
    this.#sight = sight
  }

  /** What is new since the last look; all there is at the first. Undefined when there is nothing. */
  async look(): Promise<RadarEvent | undefined> {
    const found = new Map<string, LayerOverlap>()
    for (const [id, overlaps] of await this.#find())
      for (const overlap of overlaps) found.set(`${id} ${JSON.stringify(overlap)}`, overlap)
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

  /** All there is. */
  async overlaps(): Promise<readonly LayerOverlap[]> {
    return (await this.#find()).flatMap(([, overlaps]) => overlaps)
  }

  async #find(): Promise<[id: string, overlaps: readonly LayerOverlap[]][]> {
    const { own, others } = await this.#lines()
    const found: [string, readonly LayerOverlap[]][] = []
    for (const line of others) found.push([line.other.id, await this.#compare(own, line)])
    return found
  }

  async #compare(own: Line, { other, ...line }: OtherLine): Promise<readonly LayerOverlap[]> {
    if (own.base.root === own.head.root || line.base.root === line.head.root) return []
    const roots = `${rootsOf(own)} ${rootsOf(line)}`
    const known = this.#overlaps.get(other.id)
    if (known?.roots === roots) return known.value
    const footprint = await this.#footprint(own)
    const value = (await this.#changesOf(line))
      .filter((change) => footprint.meets(change))
      .flatMap((change) => describeOverlap(other, change, this.#sight))
    this.#overlaps.set(other.id, { roots, value })
    return value
  }

  async #footprint(own: Line): Promise<Footprint> {
    const roots = rootsOf(own)
    if (this.#own?.roots !== roots)
      this.#own = { roots, value: new Footprint(await this.#changesOf(own)) }
    return this.#own.value
  }

  #changesOf({ base, head }: Line): Promise<readonly PathChange[]> {
    return diffPaths(this.#workspace.stores.nodes, base, head)
  }

  async #lines(): Promise<{ readonly own: Line; readonly others: readonly OtherLine[] }> {
    const { branch, record } = this.#place
    const { id, record: above, branch: target } = await targetOf(this.#workspace, this.#place)
    const own = await this.#lineOf(branch)
    const { base } = own
    const parent = { id, name: above?.name, path: above?.path ?? '/', isParent: true }
    const others: OtherLine[] = [
      { other: parent, base, head: (await this.#headOf(target)).snapshot },
    ]
    const siblings = await siblingsOf(this.#workspace, record)
    // They are the ones that are being worked on.
    const newest = siblings.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    for (const sibling of newest.slice(0, comparedMax)) {
      const { branch } = await placeOf(this.#workspace, sibling)
      others.push({ other: { ...sibling, isParent: false }, ...(await this.#lineOf(branch)) })
    }
    return { own, others }
  }

  async #lineOf(branch: Branch): Promise<Line> {
    const { stores } = this.#workspace
    const { base, point } = await readLayer(stores, branch, () => this.#headOf(branch))
    return { base, head: point.snapshot }
  }

  /** Folded only where it has moved: every look would leave a tree behind. */
  async #headOf(branch: Branch): Promise<FoldPoint> {
    if (this.#workspace.isShared) await branch.refresh()
    const last = this.#folded.get(branch.id)
    if (last?.seq === branch.head.position.seq) return last
    const folded = await branch.fold()
    this.#folded.set(branch.id, folded)
    return folded
  }
}

function rootsOf({ base, head }: Line): string {
  return `${base.root} ${head.root}`
}
