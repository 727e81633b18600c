import type { ContentTally, Tally } from '@cairn/protocol'

const nothing: Tally = { count: 0, bytes: 0 }
export const noContent: ContentTally = { nodes: nothing, blobs: nothing }

export function tallyOf(contents: readonly { readonly bytes: number }[]): Tally {
  return { count: contents.length, bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0) }
}

export function addTally(
  tally: ContentTally,
  kind: keyof ContentTally,
  { count, bytes }: Tally,
): ContentTally {
  const before = tally[kind]
  return { ...tally, [kind]: { count: before.count + count, bytes: before.bytes + bytes } }
}
