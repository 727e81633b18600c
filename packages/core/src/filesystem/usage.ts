import { blockBytes } from '../content/block.ts'
import type { Content } from '../content/content.ts'
import type { Nodes } from '../tree/nodes.ts'
import type { Steps } from '../tree/steps.ts'
import type { Changes } from './changes.ts'
import type { Inode } from './inode.ts'
import { totalsOf } from './totals.ts'
import type { Snapshot } from '../ports/records.ts'
import type { View } from './view.ts'

/**
 * What counts against a quota: everything that has a name. Bytes are those of content, holes not counted, before
 * compression and before equal content is stored once.
 */
export interface Usage {
  readonly bytes: number
  /** Files, directories and everything else that has an inode; the root is not counted. */
  readonly files: number
}

/** No change may make a tree larger than this. Infinity where nothing limits it. */
export type Limits = Usage

export const noUsage: Usage = { bytes: 0, files: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return { bytes: a.bytes + b.bytes, files: a.files + b.files }
}

/** Costs one path through the tree. Throws NodeMiss. */
export function usageOf(nodes: Nodes, snapshot: Snapshot): Usage {
  const { inodes, bytes } = totalsOf(nodes, snapshot)
  return { bytes, files: inodes - 1 }
}

/** By how much changes make what is below them larger, or smaller. Costs what was changed. Throws NodeMiss. */
export function* growthOf(changes: Changes, below: View): Steps<Usage> {
  let [bytes, files] = [0, 0]
  for (const [ino, inode] of changes.inodes) {
    const [before, after] = [weigh(below.inode(ino)), weigh(inode)]
    bytes += after.bytes - before.bytes
    files += after.files - before.files
    yield
  }
  return { bytes, files }
}

function weigh(inode: Inode | undefined): Usage {
  if (!inode || inode.nlink === 0) return noUsage
  return { bytes: inode.content ? allocatedBytesMax(inode.content) : 0, files: 1 }
}

/**
 * Never less than what the content will take once it is folded: a fold must not make a tree outgrow its quota. A
 * block is stored from its start, and folded bytes count until something covers their whole block.
 */
export function allocatedBytesMax({ allocated, foldedEnd, extents }: Content): number {
  let written = 0
  let covered = 0
  let counted = 0
  for (let i = 0; i < extents.length;) {
    const start = extents.at(i).offset
    let end = start
    for (; i < extents.length && extents.at(i).offset === end; i++) {
      const { offset, length, source } = extents.at(i)
      end = offset + length
      if (!source) continue
      written += end - Math.max(counted, blockStart(offset))
      counted = end
    }
    covered += coveredBytes(start, end, foldedEnd)
  }
  return Math.min(allocated, foldedEnd - covered) + written
}

/** The folded bytes in blocks that a gapless run of extents covers completely. */
function coveredBytes(start: number, end: number, foldedEnd: number): number {
  const from = Math.ceil(start / blockBytes) * blockBytes
  const to = end >= foldedEnd ? foldedEnd : blockStart(end)
  return Math.max(0, to - from)
}

function blockStart(offset: number): number {
  return Math.floor(offset / blockBytes) * blockBytes
}
