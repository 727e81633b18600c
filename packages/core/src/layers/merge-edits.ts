import { type ByteString, type Ino, toByteString } from '@cairn/protocol'
import type { BlockRef } from '../content/block.ts'
import type { Blobs, SealedBlob } from '../content/blobs.ts'
import { emptyContent, writeContent } from '../content/content.ts'
import { foldContent, planBlocks } from '../content/fold-content.ts'
import type { Inode, Link } from '../filesystem/inode.ts'
import { blockKey, dentryKey, inodeKey, linkKey } from '../filesystem/keys.ts'
import { encodeBlock, encodeDentry, encodeInode } from '../filesystem/values.ts'
import type { Edit } from '../tree/apply.ts'
import type { Nodes } from '../tree/nodes.ts'
import { sortInSteps } from '../tree/sort-in-steps.ts'
import type { Steps } from '../tree/steps.ts'
import type { MergeState } from './merge-object.ts'
import type { Blocks } from './sides.ts'
import type { ThreeSides } from './touched.ts'
import { sameBlock, sameLinks, type Version, withoutLinks } from './version.ts'

/** A thing in the target and what it becomes there, both with the numbers directories have in the result. */
interface Step {
  readonly before: Placed | undefined
  readonly after: Placed | undefined
  /** Blocks of what it becomes; undefined when they stay as they are. */
  readonly blocks: Blocks | undefined
}

interface Placed extends Pick<Version, 'ino' | 'inode'> {
  readonly names: readonly Link[]
}

/** Turns the merged states into edits of the target's tree. Blobs they refer to are stored when it resolves. */
export async function mergeEdits(
  states: ReadonlyMap<Ino, MergeState>,
  sides: ThreeSides,
  nodes: Nodes,
  blobs: Blobs,
): Promise<readonly Edit[]> {
  const steps: Step[] = []
  const sealed: SealedBlob[] = []
  for (const state of states.values()) {
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
    steps.push(await planStep(state, states, sides, blobs, sealed))
  }
  await blobs.store(sealed)
  const edits = new TargetEdits()
  // Removals first: what leaves a place makes room for what comes. Inodes last: directories count names.
  await nodes.readEach(steps, (step) => edits.removeNames(step))
  await nodes.readEach(steps, (step) => edits.addNames(step))
  for (const step of steps) {
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
    await editInode(edits, step, sides)
  }
  for (const ino of edits.uncounted()) edits.recount(ino, await sides.target.getInode(ino))
  return nodes.run(edits.sorted())
}

async function planStep(
  { object, merged }: MergeState,
  states: ReadonlyMap<Ino, MergeState>,
  sides: ThreeSides,
  blobs: Blobs,
  sealed: SealedBlob[],
): Promise<Step> {
  const before = object.target
  if (!merged) return { before, after: undefined, blocks: undefined }
  const { ino, inode, content } = merged
  const names = merged.links.map(({ parent, name }) => ({
    parent: states.get(parent)?.merged?.ino ?? parent,
    name,
  }))
  if ('bytes' in content) {
    const folded = await foldBytes(inode, content.bytes, blobs, sealed)
    return { before, after: { ino, inode: folded.inode, names }, blocks: folded.blocks }
  }
  const after = { ino, inode, names }
  if (content.from === 'target') return { before, after, blocks: undefined }
  return { before, after, blocks: await sides.layer.blocks(object.layer!) }
}

async function foldBytes(
  inode: Inode,
  bytes: Uint8Array,
  blobs: Blobs,
  sealed: SealedBlob[],
): Promise<{ inode: Inode; blocks: Blocks }> {
  const nothing = {
    size: 0,
    first: undefined,
    allocated: 0,
    blockFrom: () => undefined,
    indexesFrom: () => [],
  }
  const extent = { offset: 0, length: bytes.length, source: { type: 'bytes', bytes } } as const
  const plan = planBlocks(writeContent(emptyContent, extent), bytes.length, nothing)
  const folded = await foldContent(bytes.length, nothing, plan, blobs)
  sealed.push(...folded.sealed)
  const blocks = new Map<number, BlockRef>()
  for (const [index, block] of folded.blocks) if (block) blocks.set(index, block)
  return { inode: { ...inode, size: bytes.length, content: folded.content }, blocks }
}

async function editInode(edits: TargetEdits, step: Step, sides: ThreeSides): Promise<void> {
  const { before, after } = step
  const stays = before && after?.ino === before.ino
  if (before && !stays) edits.removeInode(before.ino)
  if (after) edits.setInode(after, stays ? before : undefined)
  if (stays && !step.blocks) return
  const old = before ? await sides.target.blocks(before) : new Map<number, BlockRef>()
  if (before && !stays) edits.setBlocks(before.ino, old, new Map())
  if (after && step.blocks) edits.setBlocks(after.ino, stays ? old : new Map(), step.blocks)
}

/** Edits of the target's tree by key, and what its directories gain by them. */
class TargetEdits {
  readonly #edits = new Map<ByteString, Edit>()
  readonly #gains = new Map<Ino, { entries: number; subdirectories: number }>()
  readonly #counted = new Set<Ino>()

  removeNames({ before, after }: Step): void {
    if (!before) return
    const stays = after?.ino === before.ino ? after.names : []
    for (const link of withoutLinks(before.names, stays)) {
      this.#set(dentryKey(link.parent, link.name), undefined)
      this.#gain(link, before.inode, -1)
    }
    const kept = stays.length > 1 ? stays : []
    for (const link of before.names.length > 1 ? withoutLinks(before.names, kept) : [])
      this.#set(linkKey(before.ino, link), undefined)
  }

  addNames({ before, after }: Step): void {
    if (!after) return
    const { ino, inode, names } = after
    const stays = before?.ino === ino ? before.names : []
    for (const link of withoutLinks(names, stays)) {
      this.#set(dentryKey(link.parent, link.name), encodeDentry({ ino, kind: inode.kind }))
      this.#gain(link, inode, 1)
    }
    const kept = stays.length > 1 ? stays : []
    for (const link of names.length > 1 ? withoutLinks(names, kept) : [])
      this.#set(linkKey(ino, link), new Uint8Array())
  }

  removeInode(ino: Ino): void {
    this.#counted.add(ino)
    this.#set(inodeKey(ino), undefined)
  }

  /** `before` is the same inode in the target. */
  setInode({ ino, inode, names }: Placed, before: Placed | undefined): void {
    this.#counted.add(ino)
    const gain = this.#gains.get(ino)
    if (inode === before?.inode && !gain && sameLinks(names, before.names)) return
    const home = names.length === 1 ? names[0] : undefined
    const counts =
      inode.kind === 'directory' ? this.#count(ino, before?.inode) : { nlink: names.length }
    this.#set(inodeKey(ino), encodeInode({ ...inode, ...counts, home }))
  }

  /** Directories that gain or lose names without having changed on either side: all in one tick of the clock. */
  uncounted(): readonly Ino[] {
    return [...this.#gains.keys()].filter((ino) => !this.#counted.has(ino))
  }

  recount(ino: Ino, inode: Inode): void {
    this.#set(inodeKey(ino), encodeInode({ ...inode, ...this.#count(ino, inode) }))
  }

  setBlocks(ino: Ino, before: Blocks, after: Blocks): void {
    for (const index of before.keys())
      if (!after.has(index)) this.#set(blockKey(ino, index), undefined)
    for (const [index, block] of after)
      if (!sameBlock(block, before.get(index))) this.#set(blockKey(ino, index), encodeBlock(block))
  }

  *sorted(): Steps<readonly Edit[]> {
    const sorted = yield* sortInSteps([...this.#edits], ([a], [b]) => (a < b ? -1 : 1))
    return sorted.map(([, edit]) => edit)
  }

  #count(ino: Ino, before: Inode | undefined): Pick<Inode, 'size' | 'nlink'> {
    const gain = this.#gains.get(ino) ?? { entries: 0, subdirectories: 0 }
    return {
      size: (before?.size ?? 0) + gain.entries,
      nlink: (before?.nlink ?? 2) + gain.subdirectories,
    }
  }

  #gain({ parent }: Link, { kind }: Inode, sign: 1 | -1): void {
    const gain = this.#gains.get(parent) ?? { entries: 0, subdirectories: 0 }
    gain.entries += sign
    if (kind === 'directory') gain.subdirectories += sign
    this.#gains.set(parent, gain)
  }

  #set(key: Uint8Array, value: Uint8Array | undefined): void {
    this.#edits.set(toByteString(key), { key, value })
  }
}
