import type { Link } from '../filesystem/inode.ts'
import { disagree, mergeValue } from './merge-value.ts'
import type { Changed } from './objects.ts'
import type { Decisions } from './question.ts'
import type { SideName } from './touched.ts'
import { hasLink, sameLinks, type Version, withoutLinks } from './version.ts'

/** Where a thing is. */
export interface MergedLinks {
  /** Undefined while it is undecided: then it blocks nothing. */
  readonly links: readonly Link[]
  readonly settled: boolean
}

export async function mergeLinks(
  decisions: Decisions,
  object: Changed,
  layer: Version,
  target: Version,
): Promise<MergedLinks> {
  if (isHardLinked(object)) return mergeNames(decisions, object, layer, target)
  const links = mergeValue(object.base?.links, layer.links, target.links, sameLinks)
  if (links !== disagree) return { links, settled: false }
  const side = await decisions.chooseSide({ kind: 'rename/rename', object })
  return { links: side ? object[side]!.links : [], settled: side !== undefined }
}

export function isHardLinked({ base, layer, target }: Changed): boolean {
  return [base, layer, target].some((version) => version !== undefined && version.links.length > 1)
}

/** Each name of a thing with several names is added or removed by itself. */
async function mergeNames(
  decisions: Decisions,
  object: Changed,
  layer: Version,
  target: Version,
): Promise<MergedLinks> {
  const base = object.base?.links ?? []
  const links = [
    ...target.links.filter((link) => hasLink(layer.links, link) || !hasLink(base, link)),
    ...withoutLinks(layer.links, [...base, ...target.links]),
  ]
  const lost = findLostName(object, links)
  if (!lost) return { links, settled: false }
  const side = await decisions.chooseSide({ kind: 'hard link', object, link: lost })
  return { links: side ? object[side]!.links : links, settled: side !== undefined }
}

/** A name that one side took away from what the other edited; any, if each took away what the other kept. */
function findLostName(object: Changed, links: readonly Link[]): Link | undefined {
  const lostTo = (side: SideName, other: SideName): readonly Link[] => {
    const { base, [side]: version } = object
    const shrank = base !== undefined && version!.links.length < base.links.length
    return shrank && object.editedBy[other] ? withoutLinks(base.links, version!.links) : []
  }
  const lost =
    links.length === 0
      ? object.base!.links
      : [...lostTo('layer', 'target'), ...lostTo('target', 'layer')]
  return lost.toSorted(byPlace)[0]
}

function byPlace(a: Link, b: Link): number {
  return a.parent - b.parent || (a.name < b.name ? -1 : 1)
}
