import { blockBytes, type Totals } from '@cairn/core'
import type { ModelInode } from './model-inode.ts'
import type { Model } from './model.ts'

/** What statfs should know of a tree once it is folded. */
export function countTotals(model: Model): Totals {
  const named = [...model.names()].filter(
    ([inode, names]) => inode === model.root || names.length > 0,
  )
  return {
    inodes: named.length,
    bytes: named.reduce((sum, [inode]) => sum + countBytes(inode), 0),
  }
}

/** The bytes of each block up to its last one that is not zero. */
function countBytes({ bytes }: ModelInode): number {
  const lengths = new Map<number, number>()
  for (const { start, end } of bytes.ranges())
    bytes.read(start, end).forEach((byte, index) => {
      const block = Math.floor((start + index) / blockBytes)
      if (byte !== 0) lengths.set(block, start + index + 1 - block * blockBytes)
    })
  return [...lengths.values()].reduce((sum, length) => sum + length, 0)
}
