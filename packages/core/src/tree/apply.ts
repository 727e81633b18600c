import { compareBytes, type Hash } from '@cairn/protocol'
import { endsNode, entrySize } from './chunker.ts'
import { type ChildRef, decodeChild, encodeChild } from './child-ref.ts'
import { encodeNode, type NodeEntry } from './encode.ts'
import { openNode, type TreeNode } from './node.ts'
import { LevelCursor } from './level-cursor.ts'
import type { Nodes } from './nodes.ts'
import type { Steps } from './steps.ts'

/** Sets a key, or removes it where the value is undefined. */
export interface Edit {
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
}

/** What an entry adds to the sums kept in inner nodes. Must depend on nothing but the entry. */
export type Weigh = (key: Uint8Array, value: Uint8Array) => number

export interface Applied {
  readonly root: Hash
  /** Nodes that may not be stored yet. Store them before the root is used anywhere. */
  readonly created: ReadonlyMap<Hash, Uint8Array>
}

/**
 * Applies edits, ascending and unique by key, and gives the root that a tree built from scratch with the
 * same entries would have.
 *
 * Level by level: the nodes that hold edited keys are cut anew, on to the right until the cuts fall where
 * they fell before; what was replaced becomes the edits of the level above.
 */
export async function applyEdits(
  nodes: Nodes,
  root: Hash,
  edits: readonly Edit[],
  weigh: Weigh,
): Promise<Applied> {
  const writer = new LevelWriter(nodes, weigh)
  const top = nodes.peek(root) ?? (await nodes.load(root))
  let pending = edits
  for (let level = 0; level <= top.level && pending.length > 0; level++)
    pending = await rewriteLevel(nodes, root, level, pending, writer)
  if (pending.length === 0) return { root, created: writer.created }
  const tops = pending.flatMap(({ key, value }) => (value ? [{ key, value }] : []))
  return { root: await crown(nodes, top.level, tops, writer), created: writer.created }
}

async function rewriteLevel(
  nodes: Nodes,
  root: Hash,
  level: number,
  edits: readonly Edit[],
  writer: LevelWriter,
): Promise<Edit[]> {
  const parentEdits: Edit[] = []
  for (let at = 0; at < edits.length;) {
    const cursor = await LevelCursor.seek(nodes, root, level, edits[at]!.key)
    const replaced: NodeEntry[] = []
    writer.start(level)
    for (;;) {
      if (cursor.node.length > 0) replaced.push(cursor.parentEntry())
      at = await nodes.run(mergeNode(cursor.node, cursor.isLast, edits, at, writer))
      if (cursor.isLast) writer.flush()
      if (writer.isAtEnd) break
      await cursor.next()
    }
    parentEdits.push(...replacement(replaced, writer.finished))
  }
  return parentEdits
}

/** About 0.1 ms. */
const editsPerStep = 64

/** Feeds the node's entries with the edits that fall into it; gives the index of the next edit. */
function* mergeNode(
  node: TreeNode,
  isLast: boolean,
  edits: readonly Edit[],
  at: number,
  writer: LevelWriter,
): Steps<number> {
  for (let i = 0; i < node.length; i++) {
    const key = node.keyAt(i)
    let replacedByEdit = false
    for (let edit = edits[at]; edit; edit = edits[at]) {
      const order = compareBytes(edit.key, key)
      if (order > 0) break
      at++
      if (edit.value) writer.add(edit.key, edit.value)
      // Any number of new keys may fall between two that are there.
      if (at % editsPerStep === 0) yield
      if (order === 0) {
        replacedByEdit = true
        break
      }
    }
    if (!replacedByEdit) writer.add(key, node.valueAt(i))
  }
  if (!isLast) return at
  for (; at < edits.length; at++) {
    const { key, value } = edits[at]!
    if (value) writer.add(key, value)
    if (at % editsPerStep === 0) yield
  }
  return at
}

/** The edits that turn the replaced entries of the level above into the new ones. Equal ones drop out. */
function replacement(before: readonly NodeEntry[], after: readonly NodeEntry[]): Edit[] {
  const edits: Edit[] = []
  let b = 0
  let a = 0
  while (b < before.length || a < after.length) {
    const old = before[b]
    const now = after[a]
    const order = !old ? 1 : !now ? -1 : compareBytes(old.key, now.key)
    if (order < 0) edits.push({ key: old!.key, value: undefined })
    else if (order > 0 || compareBytes(old!.value, now!.value) !== 0) edits.push(now!)
    if (order <= 0) b++
    if (order >= 0) a++
  }
  return edits
}

/** Builds the levels above until one node is left; a node with a single child is never a root. */
async function crown(
  nodes: Nodes,
  level: number,
  tops: readonly NodeEntry[],
  writer: LevelWriter,
): Promise<Hash> {
  if (tops.length === 0) return nodes.emptyRoot
  while (tops.length > 1) {
    writer.start(++level)
    for (const { key, value } of tops) writer.add(key, value)
    writer.flush()
    tops = [...writer.finished]
  }
  return lowestRoot(nodes, decodeChild(tops[0]!.value).hash, writer.created)
}

async function lowestRoot(
  nodes: Nodes,
  root: Hash,
  created: ReadonlyMap<Hash, Uint8Array>,
): Promise<Hash> {
  for (;;) {
    const bytes = created.get(root)
    const node = bytes ? openNode(bytes, root) : (nodes.peek(root) ?? (await nodes.load(root)))
    if (node.level === 0 || node.length > 1) return root
    root = node.childHashAt(0)
  }
}

/** Cuts a stream of entries into nodes of one level. */
class LevelWriter {
  readonly created = new Map<Hash, Uint8Array>()
  readonly #nodes: Nodes
  readonly #weigh: Weigh
  #level = 0
  #finished: NodeEntry[] = []
  #entries: NodeEntry[] = []
  #size = 0

  constructor(nodes: Nodes, weigh: Weigh) {
    this.#nodes = nodes
    this.#weigh = weigh
  }

  /** The nodes cut since `start`, as entries of the level above. */
  get finished(): readonly NodeEntry[] {
    return this.#finished
  }

  /** The last entry ended a node: whatever follows is cut as if nothing had come before. */
  get isAtEnd(): boolean {
    return this.#entries.length === 0
  }

  start(level: number): void {
    this.#level = level
    this.#finished = []
  }

  add(key: Uint8Array, value: Uint8Array): void {
    this.#entries.push({ key, value })
    this.#size += entrySize(key.length, value.length)
    if (endsNode(key, this.#level, this.#size)) this.flush()
  }

  flush(): void {
    const last = this.#entries.at(-1)
    if (!last) return
    const bytes = encodeNode(this.#level, this.#entries)
    const hash = this.#nodes.hash(bytes)
    this.created.set(hash, bytes)
    this.#finished.push({ key: last.key, value: encodeChild({ hash, ...this.#sums() }) })
    this.#entries = []
    this.#size = 0
  }

  #sums(): Omit<ChildRef, 'hash'> {
    let count = 0
    let weight = 0
    for (const { key, value } of this.#entries) {
      const child = this.#level > 0 ? decodeChild(value) : undefined
      count += child ? child.count : 1
      weight += child ? child.weight : this.#weigh(key, value)
    }
    return { count, weight }
  }
}
