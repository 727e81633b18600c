import type { Ino } from './ids.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/** A trace tells of blocks of this size, in which the server keeps files. */
export const tracedBlockBytes: number = 256 << 10
/** About 30 KB. */
const itemsMax = 4096

/** What a program read of an inode: the names of a directory, or a block of a file. */
export interface TraceItem {
  readonly ino: Ino
  /** Undefined for the names of a directory. */
  readonly block: number | undefined
}

/** What programs read first, in the order in which the next mount needs it. */
export type Trace = readonly TraceItem[]

/** The first of them, as many as a trace may have. */
export function encodeTrace(trace: Trace): Uint8Array {
  const items = trace.slice(0, itemsMax)
  const writer = new Writer(64).varint(items.length)
  for (const { ino, block } of items) writer.varint(ino).varint(block === undefined ? 0 : block + 1)
  return writer.finish()
}

export function decodeTrace(bytes: Uint8Array): Trace {
  const reader = new Reader(bytes, 'trace')
  const count = reader.count(2)
  if (count > itemsMax) throw reader.malformed(`${count} items, at most ${itemsMax}`)
  const trace: TraceItem[] = []
  for (let left = count; left > 0; left--) {
    const ino = reader.positive() as Ino
    const block = reader.varint()
    trace.push({ ino, block: block === 0 ? undefined : block - 1 })
  }
  reader.end()
  return trace
}

/**
 * The newer one, and what the older one had beside it: names of directories first, because a mount
 * takes in the bytes of known files alone.
 */
export function joinTraces(newer: Trace, older: Trace): Trace {
  const items = new Map<string, TraceItem>()
  for (const item of [...newer, ...older]) {
    const key = `${item.ino} ${item.block}`
    if (!items.has(key)) items.set(key, item)
  }
  const all = [...items.values()]
  return [
    ...all.filter(({ block }) => block === undefined).slice(0, itemsMax / 4),
    ...all.filter(({ block }) => block !== undefined),
  ].slice(0, itemsMax)
}
