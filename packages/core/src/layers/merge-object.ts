import { equalBytes } from '@cairn/protocol'
import { compareTimes, type Inode, type Link, type Time, type Xattrs } from '../filesystem/inode.ts'
import { sameTime } from '../filesystem/values.ts'
import type { ConflictKind } from './conflict.ts'
import type { Changed, ThreeSides } from './objects.ts'
import type { Choice } from './resolution.ts'
import { sameContent } from './sides.ts'
import { hasLink, sameAttributes, sameLinks, type Version } from './version.ts'

export type SideName = 'layer' | 'target'

/** What a changed thing becomes. Its links name directories by identity. */
export interface Merged extends Version {
  readonly content: { readonly from: SideName } | { readonly bytes: Uint8Array }
}

/** What the merge of a single thing asks of the whole. */
export interface MergeContext {
  readonly sides: ThreeSides
  /** The decision on a conflict, if there is one; else the conflict is on record. */
  choose(kind: ConflictKind, object: Changed): Choice | undefined
  /** Undefined when line-level merging was not asked for, or did not work out. */
  mergeText(object: Changed): Promise<Uint8Array | undefined>
}

/** Merges one thing by itself. An undecided conflict keeps what there is, so that nothing is lost. */
export async function mergeObject(
  context: MergeContext,
  object: Changed,
): Promise<Merged | undefined> {
  const { base, layer, target } = object
  if (layer && target) return mergeBoth(context, object, layer, target)
  if (!base) return keep(object, layer ? 'layer' : 'target')
  return mergeDeleted(context, object, base)
}

export function keep(object: Changed, side: SideName): Merged | undefined {
  const version = object[side]
  return version && { ...version, content: { from: side } }
}

function mergeDeleted(context: MergeContext, object: Changed, base: Version): Merged | undefined {
  const side = object.layer ? 'layer' : 'target'
  const version = object[side]
  if (!version) return undefined
  const moved = !sameLinks(version.links, base.links)
  const edited = object.editedBy[side] || !sameAttributes(base.inode, version.inode)
  if (!moved && !edited) return undefined
  const hardLinked = base.links.length > 1 || version.links.length > 1
  const kind = !moved ? 'edit/delete' : hardLinked ? 'hard link' : 'rename/delete'
  const choice = context.choose(kind, object)
  return choice ? chosen(object, choice, side) : keep(object, side)
}

function chosen(object: Changed, choice: Choice, survivor: SideName): Merged | undefined {
  if (choice.type !== 'bytes') return keep(object, choice.type)
  const merged = keep(object, survivor)
  return merged && { ...merged, content: { bytes: choice.bytes } }
}

async function mergeBoth(
  context: MergeContext,
  object: Changed,
  layer: Version,
  target: Version,
): Promise<Merged> {
  const content = await mergeContent(context, object, layer, target)
  const from = 'from' in content && content.from === 'layer' ? layer.inode : target.inode
  const attributes = mergeAttributes(context, object, layer, target)
  return {
    ino: numberOf(object, layer, target, content),
    links: mergeLinks(context, object, layer, target),
    content,
    inode: { ...from, ...attributes, ...mergeTimes(object, layer, target) },
  }
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
  context: MergeContext,
  object: Changed,
  layer: Version,
  target: Version,
): Promise<Merged['content']> {
  if (object.base && !object.editedBy.layer) return { from: 'target' }
  if (object.base && !object.editedBy.target) return { from: 'layer' }
  const { sides } = context
  if (await sameContent(sides.layer, layer, sides.target, target)) return { from: 'target' }
  const text = await context.mergeText(object)
  if (text) return { bytes: text }
  const choice = context.choose(object.base ? 'edit/edit' : 'add/add', object)
  if (!choice) return { from: 'target' }
  return choice.type === 'bytes' ? { bytes: choice.bytes } : { from: choice.type }
}

type Attributes = Pick<Inode, 'mode' | 'uid' | 'gid' | 'xattrs'>

function mergeAttributes(
  context: MergeContext,
  object: Changed,
  layer: Version,
  target: Version,
): Attributes {
  const base = object.base?.inode
  const mode = mergeValue(base?.mode, layer.inode.mode, target.inode.mode)
  const uid = mergeValue(base?.uid, layer.inode.uid, target.inode.uid)
  const gid = mergeValue(base?.gid, layer.inode.gid, target.inode.gid)
  const xattrs = mergeXattrs(base?.xattrs, layer.inode.xattrs, target.inode.xattrs)
  if (mode !== disagree && uid !== disagree && gid !== disagree && xattrs !== disagree)
    return { mode, uid, gid, xattrs }
  const choice = context.choose('mode', object)
  return attributesOf(choice?.type === 'layer' ? layer.inode : target.inode)
}

function attributesOf({ mode, uid, gid, xattrs }: Inode): Attributes {
  return { mode, uid, gid, xattrs }
}

const disagree: unique symbol = Symbol('disagree')

function mergeValue<T>(
  base: T | undefined,
  layer: T,
  target: T,
  same: (a: T, b: T) => boolean = (a, b) => a === b,
): T | typeof disagree {
  if (same(layer, target) || (base !== undefined && same(layer, base))) return target
  return base !== undefined && same(target, base) ? layer : disagree
}

function mergeXattrs(
  base: Xattrs | undefined,
  layer: Xattrs | undefined,
  target: Xattrs | undefined,
): Xattrs | undefined | typeof disagree {
  if (!layer && !target) return undefined
  const merged = new Map<string, Uint8Array>()
  for (const name of new Set([...(layer?.keys() ?? []), ...(target?.keys() ?? [])])) {
    const value = mergeValue(
      base?.get(name) ?? none,
      layer?.get(name) ?? none,
      target?.get(name) ?? none,
      sameValue,
    )
    if (value === disagree) return disagree
    if (value !== none) merged.set(name, value)
  }
  return merged.size > 0 ? merged : undefined
}

const none: unique symbol = Symbol('none')

function sameValue(a: Uint8Array | typeof none, b: Uint8Array | typeof none): boolean {
  return a === b || (a !== none && b !== none && equalBytes(a, b))
}

function mergeTimes(
  { base }: Changed,
  layer: Version,
  target: Version,
): Pick<Inode, 'atime' | 'mtime' | 'ctime'> {
  const merge = (field: 'atime' | 'mtime' | 'ctime'): Time => {
    const was = base?.inode[field]
    if (was && sameTime(was, layer.inode[field])) return target.inode[field]
    if (was && sameTime(was, target.inode[field])) return layer.inode[field]
    return later(layer.inode[field], target.inode[field])
  }
  return { atime: merge('atime'), mtime: merge('mtime'), ctime: merge('ctime') }
}

export function later(a: Time, b: Time): Time {
  return compareTimes(a, b) < 0 ? b : a
}

function mergeLinks(
  context: MergeContext,
  object: Changed,
  layer: Version,
  target: Version,
): readonly Link[] {
  const base = object.base?.links ?? []
  const hardLinked = Math.max(base.length, layer.links.length, target.links.length) > 1
  const links = hardLinked
    ? mergeLinkSets(base, layer.links, target.links)
    : mergeValue(base, layer.links, target.links, sameLinks)
  if (links !== disagree && !(hardLinked && losesName(object, links))) return links
  const choice = context.choose(hardLinked ? 'hard link' : 'rename/rename', object)
  return choice?.type === 'layer' ? layer.links : target.links
}

function mergeLinkSets(
  base: readonly Link[],
  layer: readonly Link[],
  target: readonly Link[],
): readonly Link[] {
  return [
    ...target.filter((link) => hasLink(layer, link) || !hasLink(base, link)),
    ...layer.filter((link) => !hasLink(base, link) && !hasLink(target, link)),
  ]
}

/** One side took a name away from what the other edited, or each took away what the other kept. */
function losesName({ base, layer, target, editedBy }: Changed, links: readonly Link[]): boolean {
  const names = base?.links.length ?? 0
  return (
    links.length === 0 ||
    (layer!.links.length < names && editedBy.target) ||
    (target!.links.length < names && editedBy.layer)
  )
}
