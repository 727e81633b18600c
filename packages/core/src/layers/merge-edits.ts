import { type ByteString, type Ino, toByteString } from '@cairn/protocol'
import type { BlockRef } from '../content/block.ts'
import type { Blobs, SealedBlob } from '../content/blobs.ts'
import { emptyContent, writeContent } from '../content/content.ts'
import { foldContent, planBlocks } from '../content/fold-content.ts'
import type { Inode, Link } from '../filesystem/inode.ts'
import { blockKey, dentryKey, inodeKey, linkKey } from '../filesystem/keys.ts'
import { encodeBlock, encodeDentry, encodeInode } from '../filesystem/values.ts'
import type { Edit } from '../tree/apply.ts'
import type { ThreeSides } from './objects.ts'
import { mayHaveBlocks } from './sides.ts'
import type { State, States } from './structure.ts'
import { sameBlock, type Version } from './version.ts'

/** A thing in the target and what it becomes there, both with the numbers directories have in the result. */
interface Step {
  readonly before: Version | undefined
  readonly after: Version | undefined
  /** Blocks 1 and above of what it becomes; undefined when they stay as they are. */
  readonly blocks: ReadonlyMap<number, BlockRef> | undefined
}

type Blocks = ReadonlyMap<number, BlockRef>

/** Turns the merged states into edits of the target's tree. Blobs they refer to are stored when it resolves. */
export async function mergeEdits(
  states: States,
  sides: ThreeSides,
  blobs: Blobs,
): Promise<readonly Edit[]> {
  const steps: Step[] = []
  const sealed: SealedBlob[] = []
  for (const state of states.values())
    steps.push(await planStep(state, states, sides, blobs, sealed))
  await blobs.store(sealed)
  const edits = new TargetEdits()
  // Removals first: what leaves a place makes room for what comes. Inodes last: directories count names.
  for (const { before } of steps) if (before) edits.removeNames(before)
  for (const { after } of steps) if (after) edits.addNames(after)
  for (const step of steps) await editInode(edits, step, sides)
  return edits.sorted()
}

async function planStep(
  { object, merged }: State,
  states: States,
  sides: ThreeSides,
  blobs: Blobs,
  sealed: SealedBlob[],
): Promise<Step> {
  const before = object.target && (await sides.target.version(object.target.ino))
  if (!merged) return { before, after: undefined, blocks: undefined }
  const links = merged.links.map((link) => ({
    parent: states.get(link.parent)?.merged?.ino ?? link.parent,
    name: link.name,
  }))
  const { ino, inode, content } = merged
  if ('bytes' in content) {
    const folded = await foldBytes(inode, content.bytes, blobs, sealed)
    return { before, after: { ino, links, inode: folded.inode }, blocks: folded.blocks }
  }
  const after = { ino, links, inode }
  if (content.from === 'target') return { before, after, blocks: undefined }
  return { before, after, blocks: await blocksOf(sides.layer, object.layer!) }
}

function blocksOf(side: ThreeSides['layer'], { ino, inode }: Version): Promise<Blocks> {
  return mayHaveBlocks(inode) ? side.blocks(ino) : Promise.resolve(new Map())
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
    block: () => undefined,
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
  const old = before ? await blocksOf(sides.target, before) : new Map<number, BlockRef>()
  if (before && !stays) edits.setBlocks(before.ino, old, new Map())
  if (after && step.blocks) edits.setBlocks(after.ino, stays ? old : new Map(), step.blocks)
}

/** Edits of the target's tree by key, and what its directories gain by them. */
class TargetEdits {
  readonly #edits = new Map<ByteString, Edit>()
  readonly #gains = new Map<Ino, { entries: number; subdirectories: number }>()

  removeNames({ ino, inode, links }: Version): void {
    for (const link of links) {
      this.#set(dentryKey(link.parent, link.name), undefined)
      this.#gain(link, inode, -1)
      if (links.length > 1) this.#set(linkKey(ino, link), undefined)
    }
  }

  addNames({ ino, inode, links }: Version): void {
    for (const link of links) {
      this.#set(dentryKey(link.parent, link.name), encodeDentry({ ino, kind: inode.kind }))
      this.#gain(link, inode, 1)
      if (links.length > 1) this.#set(linkKey(ino, link), new Uint8Array())
    }
  }

  removeInode(ino: Ino): void {
    this.#set(inodeKey(ino), undefined)
  }

  setInode(after: Version, before: Version | undefined): void {
    const home = after.links.length === 1 ? after.links[0] : undefined
    const counts =
      after.inode.kind === 'directory' ? this.#counts(after, before) : { nlink: after.links.length }
    this.#set(inodeKey(after.ino), encodeInode({ ...after.inode, ...counts, home }))
  }

  setBlocks(ino: Ino, before: Blocks, after: Blocks): void {
    for (const index of before.keys())
      if (!after.has(index)) this.#set(blockKey(ino, index), undefined)
    for (const [index, block] of after)
      if (!sameBlock(block, before.get(index))) this.#set(blockKey(ino, index), encodeBlock(block))
  }

  sorted(): readonly Edit[] {
    return [...this.#edits].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, edit]) => edit)
  }

  #counts({ ino }: Version, before: Version | undefined): Pick<Inode, 'size' | 'nlink'> {
    const gain = this.#gains.get(ino) ?? { entries: 0, subdirectories: 0 }
    return {
      size: (before?.inode.size ?? 0) + gain.entries,
      nlink: (before?.inode.nlink ?? 2) + gain.subdirectories,
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
