import { type Hash, hashBytes, toByteString, Writer } from '@cairn/protocol'

/** What an inner entry says of its child. */
export interface ChildRef {
  readonly hash: Hash
  /** Leaf entries below it. */
  readonly count: number
  /** Sum of their weights, as the tree's user defines weight. */
  readonly weight: number
}

export function encodeChild(child: ChildRef): Uint8Array {
  return new Writer(48)
    .rawByteString(child.hash)
    .positive(child.count)
    .varint(child.weight)
    .finish()
}

/** For values that `openNode` has checked or this process has made. */
export function decodeChild(value: Uint8Array): ChildRef {
  const count = readVarint(value, hashBytes)
  const weight = readVarint(value, count.next)
  return {
    hash: toByteString(value.subarray(0, hashBytes)) as Hash,
    count: count.value,
    weight: weight.value,
  }
}

/** Whether it is a child's reference, in its only spelling. */
export function isChildRef(value: Uint8Array): boolean {
  const count = readVarint(value, hashBytes)
  return count.value > 0 && readVarint(value, count.next).next === value.length
}

/** `next` is NaN where no number stands: too large, cut short, or padded. */
function readVarint(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0
  let scale = 1
  for (const start = at; at < bytes.length; at++, scale *= 0x80) {
    const byte = bytes[at]!
    value += (byte & 0x7f) * scale
    if (value > Number.MAX_SAFE_INTEGER) break
    if (byte < 0x80) return byte === 0 && at > start ? nothing : { value, next: at + 1 }
  }
  return nothing
}

const nothing = { value: 0, next: NaN }
