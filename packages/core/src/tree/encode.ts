import {
  entriesMax,
  headerBytes,
  keyBytesMax,
  nodeBytesMax,
  nodeVersion,
  wideFlag,
} from './layout.ts'

export interface NodeEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** The entries must ascend strictly by key. */
export function encodeNode(level: number, entries: readonly NodeEntry[]): Uint8Array {
  if (entries.length > entriesMax) throw new Error('a node takes at most 65535 entries')
  const first = entries[0]?.key
  const last = entries.at(-1)?.key
  const prefix = first && last ? commonPrefix(first, last) : 0
  const body = bodyBytes(entries, prefix)
  const wide = body > 0xffff
  const length = headerBytes + prefix + entries.length * (wide ? 4 : 2) + body
  if (length > nodeBytesMax) throw new Error(`a node takes at most ${nodeBytesMax} bytes`)
  const node = new Uint8Array(length)
  node.set([
    nodeVersion,
    level | (wide ? wideFlag : 0),
    entries.length & 0xff,
    entries.length >>> 8,
  ])
  node[4] = prefix & 0xff
  node[5] = prefix >>> 8
  if (first) node.set(first.subarray(0, prefix), headerBytes)
  writeEntries(node, entries, prefix, wide)
  return node
}

function writeEntries(
  node: Uint8Array,
  entries: readonly NodeEntry[],
  prefix: number,
  wide: boolean,
): void {
  let slot = headerBytes + prefix
  const body = slot + entries.length * (wide ? 4 : 2)
  let at = body
  for (const { key, value } of entries) {
    const length = key.length - prefix
    if (length < 0x80) node[at++] = length
    else {
      node[at++] = (length & 0x7f) | 0x80
      node[at++] = length >>> 7
    }
    for (let i = prefix; i < key.length; i++) node[at++] = key[i]!
    node.set(value, at)
    at += value.length
    const end = at - body
    node[slot++] = end & 0xff
    node[slot++] = (end >>> 8) & 0xff
    if (wide) {
      node[slot++] = (end >>> 16) & 0xff
      node[slot++] = end >>> 24
    }
  }
}

function bodyBytes(entries: readonly NodeEntry[], prefix: number): number {
  let bytes = 0
  for (const { key, value } of entries) {
    if (key.length > keyBytesMax) throw new Error(`a key takes at most ${keyBytesMax} bytes`)
    const length = key.length - prefix
    bytes += (length < 0x80 ? 1 : 2) + length + value.length
  }
  return bytes
}

function commonPrefix(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  let same = 0
  while (same < length && a[same] === b[same]) same++
  return same
}
