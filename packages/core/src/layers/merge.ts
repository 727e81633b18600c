import { type Ino, type Name, toHex } from '@cairn/protocol'
import type { Blobs } from '../content/blobs.ts'
import { readFile } from '../content/read.ts'
import type { Snapshot } from '../filesystem/tree-view.ts'
import { encodeInode, weighEntry } from '../filesystem/values.ts'
import { mergeText } from '../text/text-merge.ts'
import { applyEdits } from '../tree/apply.ts'
import type { Nodes } from '../tree/nodes.ts'
import type { Conflict, ConflictKind, ConflictSide } from './conflict.ts'
import { mergeEdits } from './merge-edits.ts'
import { type MergeContext, mergeObject } from './merge-object.ts'
import {
  type Changed,
  collectChanged,
  type MergeInput,
  openSides,
  type ThreeSides,
} from './objects.ts'
import type { Choice, Resolution } from './resolution.ts'
import { Side } from './sides.ts'
import { fitTogether, type States, type StructureContext } from './structure.ts'
import type { Version } from './version.ts'

export interface MergeOptions extends MergeInput {
  readonly nodes: Nodes
  readonly blobs: Blobs
  readonly resolutions?: readonly Resolution[]
  /** Merge files that both sides edited line by line, where the lines allow it. */
  readonly mergeText?: boolean
}

export type MergeResult =
  | { readonly type: 'merged'; readonly snapshot: Snapshot }
  | { readonly type: 'conflicted'; readonly conflicts: readonly Conflict[] }

/**
 * Brings a layer's changes into its target: three-way, over what the two sides changed since the base. The
 * target's own tree is never touched; without conflicts the result is a new one, every node of it stored.
 */
export async function merge(options: MergeOptions): Promise<MergeResult> {
  const { nodes, blobs, target } = options
  const sides = openSides(nodes, options)
  const changed = await collectChanged(nodes, options, sides)
  const book = new ConflictBook(options, sides)
  const states: States = new Map()
  for (const [id, object] of changed)
    states.set(id, { object, merged: await mergeObject(book, object) })
  await fitTogether(book, states)
  const conflicts = await book.list()
  if (conflicts.length > 0) return { type: 'conflicted', conflicts }
  const edits = await mergeEdits(states, sides, blobs)
  const applied = await applyEdits(nodes, target.root, edits, weighEntry)
  await nodes.store(applied.created)
  return { type: 'merged', snapshot: { root: applied.root, orphans: target.orphans } }
}

interface Entry {
  readonly kind: ConflictKind
  readonly object: Changed
  readonly other: Changed | undefined
}

/** Keeps the conflicts that nobody has decided. */
class ConflictBook implements MergeContext, StructureContext {
  readonly sides: ThreeSides
  readonly #options: MergeOptions
  readonly #choices: ReadonlyMap<string, Choice>
  readonly #open = new Map<string, Entry>()

  constructor(options: MergeOptions, sides: ThreeSides) {
    this.sides = sides
    this.#options = options
    this.#choices = new Map(options.resolutions?.map(({ conflict, choice }) => [conflict, choice]))
  }

  choose(kind: ConflictKind, object: Changed, other?: Changed): Choice | undefined {
    const id = this.#id(kind, object, other)
    const choice = this.#choices.get(id)
    if (!choice) this.#open.set(id, { kind, object, other })
    return choice
  }

  withdraw(object: Changed): void {
    for (const [id, entry] of this.#open)
      if (entry.object === object && entry.kind.endsWith('/delete')) this.#open.delete(id)
  }

  async mergeText(object: Changed): Promise<Uint8Array | undefined> {
    const { base, layer, target } = object
    if (!this.#options.mergeText || base?.inode.kind !== 'file' || !layer || !target)
      return undefined
    const [was, ours, theirs] = await Promise.all([
      this.#read(this.sides.base, base),
      this.#read(this.sides.layer, layer),
      this.#read(this.sides.target, target),
    ])
    const merged = mergeText(was, ours, theirs)
    return merged.kind === 'merged' ? merged.bytes : undefined
  }

  async list(): Promise<readonly Conflict[]> {
    const conflicts: Conflict[] = []
    for (const [id, entry] of this.#open) conflicts.push(await this.#describe(id, entry))
    return conflicts.sort((a, b) => (joined(a.path) < joined(b.path) ? -1 : 1))
  }

  async #describe(id: string, { kind, object, other }: Entry): Promise<Conflict> {
    const base = await this.#side(this.sides.base, object.base ?? other?.base)
    const layer = await this.#side(this.sides.layer, object.layer)
    const target = await this.#side(this.sides.target, (other ?? object).target)
    return { id, kind, path: (layer ?? target ?? base)!.path, base, layer, target }
  }

  async #side(side: Side, version: Version | undefined): Promise<ConflictSide | undefined> {
    if (!version) return undefined
    const path = (await side.path(version.ino)) ?? []
    return { ino: version.ino, kind: version.inode.kind, path }
  }

  #id(kind: ConflictKind, object: Changed, other: Changed | undefined): string {
    const state = (other ?? object).target
    const digest = state
      ? toHex(this.#options.nodes.hash(encodeInode(state.inode))).slice(0, 16)
      : 'absent'
    return [kind, object.id, ...(other ? [other.id] : []), digest].join(':')
  }

  #read(side: Side, { ino, inode }: Version): Promise<Uint8Array> {
    return readFile(this.#options.nodes, this.#options.blobs, side.view, ino, inode)
  }
}

function joined(path: readonly Name[]): string {
  return path.join('/')
}
