import { type Batch, encodeReference, homesOf, type Nodes, type Op, type View } from '@cairn/core'
import type { Ino, SessionReply } from '@cairn/protocol'
import type { FedRow } from '../leases/feed.ts'

/** A row that is not much longer than its operations is sent as it is. */
const longBytesMin = 16 << 10

/**
 * A row whose content is named and not sent. A mount that shows none of the files needs no more: it looks at their
 * directory before it shows them, and then asks for the bytes that a program reads. Fifty idle mounts beside a clone were
 * sent all of its files.
 */
interface ShortRow {
  /** Those that have the files which were written to. */
  readonly directories: Promise<readonly Ino[]>
  reply?: Promise<Extract<SessionReply, { type: 'batch' }>>
}

/** Made once for all sessions. */
const shortRows = new WeakMap<FedRow, ShortRow>()

export function isLong({ batch, row }: FedRow): boolean {
  return batch?.body.type === 'ops' && row.bytes.length >= longBytesMin
}

/** Where something was written. */
export function writtenIn(fed: FedRow, nodes: Nodes, view: View): Promise<readonly Ino[]> {
  return shortRowOf(fed, nodes, view).directories
}

export function shortReply(
  fed: FedRow,
  nodes: Nodes,
  view: View,
): Promise<Extract<SessionReply, { type: 'batch' }>> {
  const short = shortRowOf(fed, nodes, view)
  short.reply ??= nodes
    .run(encodeReference(batchOf(fed), nodes.hash))
    .then((bytes) => ({ type: 'batch', bytes }))
  return short.reply
}

function shortRowOf(fed: FedRow, nodes: Nodes, view: View): ShortRow {
  let short = shortRows.get(fed)
  if (!short) {
    const { body } = batchOf(fed)
    const ops = body.type === 'ops' ? body.ops : []
    short = { directories: nodes.read(() => homesOfWritten(view, ops)) }
    shortRows.set(fed, short)
  }
  return short
}

function batchOf({ batch }: FedRow): Batch {
  return batch!
}

function homesOfWritten(view: View, ops: readonly Op[]): readonly Ino[] {
  const written = ops.flatMap((op) => ('data' in op ? [op.ino] : []))
  return [...new Set([...new Set(written)].flatMap((ino) => homesOf(view, ino)))]
}
