import type { Inode, Link } from '../filesystem/inode.ts'
import { mergeAttributes, mergeTimes } from './merge-attributes.ts'
import { isHardLinked, mergeLinks } from './merge-links.ts'
import type { Changed } from './objects.ts'
import type { Decisions } from './question.ts'
import type { Choice } from '../ports/records.ts'
import { sameContent } from './sides.ts'
import type { SideName } from './touched.ts'
import { sameAttributes, sameLinks, type Version, withoutLinks } from './version.ts'

/** What a changed thing becomes. Its links name directories by identity. */
export interface Merged extends Pick<Version, 'ino' | 'inode' | 'links'> {
  readonly content: { readonly from: SideName } | { readonly bytes: Uint8Array }
}

/** A thing and what it becomes; undefined when it goes away. */
export interface MergeState {
  readonly object: Changed
  merged: Merged | undefined
  /**
   * A decision says whether it stays, or where. A thing with one decision is not asked about again.
   */
  settled: boolean
  /** Names that a decision took from it. It does not come back to them. */
  readonly refused: Link[]
}

/** Merges one thing by itself. An undecided conflict keeps what there is. */
export async function mergeObject(decisions: Decisions, object: Changed): Promise<MergeState> {
  const { base, layer, target } = object
  if (layer && target) return mergeBoth(decisions, object, layer, target)
  const side = layer ? 'layer' : 'target'
  if (base) return mergeDeleted(decisions, object, base, side)
  return stateOf(object, keep(object, side))
}

export function keep(object: Changed, side: SideName): Merged | undefined {
  const version = object[side]
  return version && { ...version, content: { from: side } }
}

function stateOf(object: Changed, merged: Merged | undefined, settled = false): MergeState {
  return { object, merged, settled, refused: [] }
}

async function mergeDeleted(
  decisions: Decisions,
  object: Changed,
  base: Version,
  side: SideName,
): Promise<MergeState> {
  const { [side]: version } = object
  if (!version) return stateOf(object, undefined)
  // A name less agrees with the deletion, a name more does not.
  const [moved] = withoutLinks(version.links, base.links)
  const edited = object.editedBy[side] || !sameAttributes(base.inode, version.inode)
  if (!moved && !edited) return stateOf(object, undefined)
  const kind = !moved ? 'edit/delete' : isHardLinked(object) ? 'hard link' : 'rename/delete'
  const question = { kind, object, ...(moved ? { link: moved } : {}) } as const
  const choice = await decisions.choose({ ...question, accepts: acceptsFor(version) })
  if (!choice) return stateOf(object, keep(object, side))
  if (choice.type !== 'bytes') return stateOf(object, keep(object, choice.type), true)
  return stateOf(object, { ...version, content: choice }, true)
}

/** Bytes make a file, and nothing else. */
function acceptsFor({ inode }: Version): (choice: Choice) => boolean {
  return ({ type }) => type !== 'bytes' || inode.kind === 'file'
}

async function mergeBoth(
  decisions: Decisions,
  object: Changed,
  layer: Version,
  target: Version,
): Promise<MergeState> {
  if (isUnchanged(object, layer, 'layer')) return stateOf(object, keep(object, 'target'))
  if (isUnchanged(object, target, 'target')) {
    const ino = layer.inode.kind === 'directory' ? target.ino : layer.ino
    return stateOf(object, { ...layer, ino, content: { from: 'layer' } })
  }
  const content = await mergeContent(decisions, object, layer, target)
  const from = 'from' in content && content.from === 'layer' ? layer.inode : target.inode
  const attributes = await mergeAttributes(decisions, object, layer, target)
  const { links, settled } = await mergeLinks(decisions, object, layer, target)
  const inode: Inode = { ...from, ...attributes, ...mergeTimes(object, layer, target) }
  const ino = numberOf(object, layer, target, content)
  return stateOf(object, { ino, inode, links, content }, settled)
}

/** Who did not touch a thing has no say in it. That is nearly always one of the two. */
function isUnchanged({ base, editedBy }: Changed, version: Version, side: SideName): boolean {
  return base?.inode === version.inode && !editedBy[side] && sameLinks(base.links, version.links)
}

/** A file that only the layer replaced comes with its new number; otherwise the target's numbers stay. */
function numberOf(
  { base }: Changed,
  layer: Version,
  target: Version,
  content: Merged['content'],
): Version['ino'] {
  const replacedByLayerAlone =
    base?.ino === target.ino && 'from' in content && content.from === 'layer'
  return replacedByLayerAlone && target.inode.kind !== 'directory' ? layer.ino : target.ino
}

async function mergeContent(
  decisions: Decisions,
  object: Changed,
  layer: Version,
  target: Version,
): Promise<Merged['content']> {
  if (object.base && !object.editedBy.layer) return { from: 'target' }
  if (object.base && !object.editedBy.target) return { from: 'layer' }
  const { sides } = decisions
  if (await sameContent(sides.layer, layer, sides.target, target)) return { from: 'target' }
  const text = await decisions.mergeText(object)
  if (text) return { bytes: text }
  const kind = object.base ? 'edit/edit' : 'add/add'
  const choice = await decisions.choose({ kind, object, accepts: acceptsFor(target) })
  if (!choice) return { from: 'target' }
  return choice.type === 'bytes' ? choice : { from: choice.type }
}
