import { equalBytes } from '@cairn/protocol'
import { type Inode, laterTime, type Xattrs } from '../filesystem/inode.ts'
import type { Time } from '../ports/records.ts'
import { sameTime } from '../filesystem/values.ts'
import { disagree, mergeValue } from './merge-value.ts'
import type { Changed } from './objects.ts'
import type { Decisions } from './question.ts'
import { sameAttributes, type Version } from './version.ts'

type Attributes = Pick<Inode, 'mode' | 'uid' | 'gid' | 'xattrs'>

/** Each attribute by itself; one question for all that the sides do not agree about. */
export async function mergeAttributes(
  decisions: Decisions,
  object: Changed,
  layer: Version,
  target: Version,
): Promise<Attributes> {
  if (sameAttributes(layer.inode, target.inode)) return attributesOf(target.inode)
  const merge = new AttributeMerge(object.base?.inode, layer.inode, target.inode)
  const merged = merge.prefer('target')
  if (merge.agrees) return merged
  const side = await decisions.chooseSide({ kind: 'mode', object })
  return side ? merge.prefer(side) : merged
}

function attributesOf({ mode, uid, gid, xattrs }: Inode): Attributes {
  return { mode, uid, gid, xattrs }
}

class AttributeMerge {
  agrees = true
  readonly #base: Inode | undefined
  readonly #sides: { readonly layer: Inode; readonly target: Inode }

  constructor(base: Inode | undefined, layer: Inode, target: Inode) {
    this.#base = base
    this.#sides = { layer, target }
  }

  /** Where the sides do not agree, what `side` has. */
  prefer(side: 'layer' | 'target'): Attributes {
    return {
      mode: this.#number('mode', side),
      uid: this.#number('uid', side),
      gid: this.#number('gid', side),
      xattrs: this.#xattrs(side),
    }
  }

  #number(field: 'mode' | 'uid' | 'gid', side: 'layer' | 'target'): number {
    const { layer, target } = this.#sides
    const merged = mergeValue(this.#base?.[field], layer[field], target[field])
    return merged === disagree ? this.#disagreed(this.#sides[side][field]) : merged
  }

  #xattrs(side: 'layer' | 'target'): Xattrs | undefined {
    const { layer, target } = this.#sides
    const merged = new Map<string, Uint8Array>()
    for (const name of new Set([
      ...(layer.xattrs?.keys() ?? []),
      ...(target.xattrs?.keys() ?? []),
    ])) {
      const of = (inode: Inode | undefined): XattrValue => inode?.xattrs?.get(name) ?? none
      const value = mergeValue(of(this.#base), of(layer), of(target), sameValue)
      const chosen = value === disagree ? this.#disagreed(of(this.#sides[side])) : value
      if (chosen !== none) merged.set(name, chosen)
    }
    return merged.size > 0 ? merged : undefined
  }

  #disagreed<T>(value: T): T {
    this.agrees = false
    return value
  }
}

/** An attribute that is not there has no value; that, too, is something to agree about. */
const none: unique symbol = Symbol('none')
type XattrValue = Uint8Array | typeof none

function sameValue(a: XattrValue, b: XattrValue): boolean {
  return a === b || (a !== none && b !== none && equalBytes(a, b))
}

type Times = Pick<Inode, 'atime' | 'mtime' | 'ctime'>

/** Times never conflict: the later one is what a person would see had all happened in one place. */
export function mergeTimes({ base }: Changed, layer: Version, target: Version): Times {
  const merge = (field: keyof Times): Time => {
    const merged = mergeValue(base?.inode[field], layer.inode[field], target.inode[field], sameTime)
    return merged === disagree ? laterTime(layer.inode[field], target.inode[field]) : merged
  }
  return { atime: merge('atime'), mtime: merge('mtime'), ctime: merge('ctime') }
}
