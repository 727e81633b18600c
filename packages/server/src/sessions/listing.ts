import { type NamedDentry, NodeMiss, type View } from '@cairn/core'
import { FsError, type Ino, type Name, type SessionRequest, Writer } from '@cairn/protocol'
import type { SessionScope } from '../access/session-scope.ts'
import { type Doubts, getInode, writeInode } from './inode-writer.ts'
import { type ReadPlace, readPlace } from './place.ts'

type Question<Type> = Extract<SessionRequest, { readonly type: Type }>

const entriesMax = 1000
const pageBytesMax = 2 << 20
const subtreeEntriesMax = 20_000
const subtreeBytesMax = 2 << 20

/** Entries of a directory, read at one moment of the log. */
export async function directoryPage(
  place: ReadPlace,
  { ino, after, limit }: Question<'directory'>,
  doubts: Doubts,
): Promise<Uint8Array> {
  const count = Math.min(Math.max(1, limit), entriesMax)
  const start = after === '' ? undefined : (after as Name)
  const { scope } = place
  // One more than is sent: a client that gets the last of them need not ask for the end.
  return readAll(place, { ino, after: start, count: count + 1 }, (view) => {
    const seen = scope?.see(view) ?? view
    requireDirectory(seen, ino)
    requireListable(view, ino, scope)
    const entries = seen.entries(ino, start, count + 1)
    const body = new Writer(4096)
    const written = writeEntries(body, seen, entries.slice(0, count), {
      bytesMax: pageBytesMax,
      doubts,
    })
    const isDone = written === entries.length
    const head = new Writer(16).varint(place.seq).u8(isDone ? 1 : 0)
    return head.varint(written).raw(body.finish()).finish()
  })
}

/**
 * Whole directories from `ino` downwards, nearest first, until the next one would be too much or
 * the branch moves on: the answer is of one moment. Page by page, so that a large tree delays no
 * other request for long.
 */
export async function subtree(
  place: ReadPlace,
  { ino, limit }: Question<'subtree'>,
  doubts: Doubts,
): Promise<Uint8Array> {
  const writer = new Writer(1 << 16)
  const { seq } = place
  writer.varint(seq)
  const queue: Ino[] = [ino]
  let left = Math.min(Math.max(1, limit), subtreeEntriesMax)
  for (const directory of queue) {
    const whole = await readWhole(place, directory, { limit: left, seq, doubts })
    if (whole === 'unlisted') continue
    if (!whole || writer.length + whole.bytes.length > subtreeBytesMax) break
    writer.varint(directory).varint(whole.entries.length).raw(whole.bytes)
    left -= whole.entries.length
    for (const entry of whole.entries) if (entry.kind === 'directory') queue.push(entry.ino)
  }
  return writer.finish()
}

/** Undefined where it has more names than a page, may not be listed, or is known only after a fold. */
export async function wholeDirectory(
  place: ReadPlace,
  ino: Ino,
): Promise<{ readonly count: number; readonly bytes: Uint8Array } | undefined> {
  const from = { ino, after: undefined, count: entriesMax }
  const doubts = { some: false }
  const page = await readAll(place, from, (view) => readPage(view, from, place.scope, doubts))
  if (typeof page !== 'object' || page.entries.length === entriesMax) return undefined
  if (doubts.some) return undefined
  return { count: page.entries.length, bytes: page.bytes }
}

interface WholeDirectory {
  readonly entries: readonly NamedDentry[]
  readonly bytes: Uint8Array
}

/** Undefined when it has more than `limit` entries, or the branch is not at `seq` any more. */
async function readWhole(
  place: ReadPlace,
  ino: Ino,
  { limit, seq, doubts }: { readonly limit: number; readonly seq: number; readonly doubts: Doubts },
): Promise<WholeDirectory | 'unlisted' | undefined> {
  const { pacer } = place.workspace.stores.nodes
  const entries: NamedDentry[] = []
  const writer = new Writer(4096)
  for (;;) {
    const from = { ino, after: entries.at(-1)?.name, count: entriesMax }
    const page = await readAll(place, from, (view) =>
      place.seq === seq ? readPage(view, from, place.scope, doubts) : undefined,
    )
    if (typeof page !== 'object') return page
    entries.push(...page.entries)
    writer.raw(page.bytes)
    if (entries.length > limit || writer.length > subtreeBytesMax) return undefined
    if (page.entries.length < entriesMax) return { entries, bytes: writer.finish() }
    if (pacer.isDue()) await pacer.rest()
  }
}

/** Undefined when it takes more bytes than an answer has. */
function readPage(
  whole: View,
  { ino, after, count }: Listed,
  scope: SessionScope | undefined,
  doubts: Doubts,
): WholeDirectory | 'unlisted' | undefined {
  const view = scope?.see(whole) ?? whole
  // First: a directory that is hidden must look like a number that nothing has.
  requireDirectory(view, ino)
  if (scope && !scope.canList(whole, ino)) return 'unlisted'
  const entries = view.entries(ino, after, count)
  const writer = new Writer(4096)
  const written = writeEntries(writer, view, entries, { bytesMax: subtreeBytesMax, doubts })
  return written === entries.length ? { entries, bytes: writer.finish() } : undefined
}

/** As many as take about `bytesMax`, and one at least. Gives how many that was. */
function writeEntries(
  writer: Writer,
  view: View,
  entries: readonly NamedDentry[],
  { bytesMax, doubts }: { readonly bytesMax: number; readonly doubts: Doubts },
): number {
  let written = 0
  for (const { name, ino } of entries) {
    if (writer.length > bytesMax) break
    writer.byteString(name).varint(ino)
    writeInode(writer, view, ino, doubts)
    written++
  }
  return written
}

/** Entries that a read goes through. */
interface Listed {
  readonly ino: Ino
  readonly after: Name | undefined
  readonly count: number
}

/**
 * Reads at one moment. A read that misses begins anew, and with many misses it would hardly end: so at the first one,
 * all it will need is loaded.
 */
async function readAll<T>(place: ReadPlace, listed: Listed, read: (view: View) => T): Promise<T> {
  try {
    return read(place.view)
  } catch (miss) {
    if (!(miss instanceof NodeMiss)) throw miss
  }
  await warm(place, listed)
  return readPlace(place, read)
}

async function warm(place: ReadPlace, { ino, after, count }: Listed): Promise<void> {
  const { nodes } = place.workspace.stores
  for (let [left, from] = [count, after]; left > 0;) {
    const [limit, start] = [Math.min(left, entriesMax), from]
    const entries = await nodes.read(() => place.view.entries(ino, start, limit))
    await nodes.readEach(entries, (entry) => place.view.inode(entry.ino))
    if (entries.length < limit) return
    from = entries.at(-1)!.name
    left -= limit
  }
}

function requireListable(view: View, ino: Ino, scope: SessionScope | undefined): void {
  if (scope && !scope.canList(view, ino)) throw new FsError('EACCES')
}

function requireDirectory(view: View, ino: Ino): void {
  if (getInode(view, ino).kind !== 'directory') throw new FsError('ENOTDIR')
}
