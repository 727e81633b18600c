import { type Extent, fetchBlobs, isAnswer, joinExtents, type View } from '@cairn/core'
import {
  type BranchId,
  decodeTrace,
  type Ino,
  joinTraces,
  type SessionRequest,
  type Trace,
  tracedBlockBytes,
  type TraceItem,
  Writer,
} from '@cairn/protocol'
import { planRead } from '../files/send.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { getInode } from './inode-writer.ts'
import { wholeDirectory } from './listing.ts'
import { type ReadPlace, readPlace } from './place.ts'

type Question<Type> = Extract<SessionRequest, { readonly type: Type }>

/** One answer has so much, and what its last item has beyond that. */
const answerBytesMax = 1 << 20
/** An item that is skipped costs a look into the tree: an answer that finds nothing ends all the same. */
const itemsPerAnswer = 500

/** Keeps what a mount says that it read first, before what earlier mounts read. */
export async function noteTrace(
  { workspace }: { readonly workspace: OpenWorkspace },
  { ino, bytes }: Question<'trace'>,
): Promise<void> {
  const { traces, clock } = workspace
  const newer = decodeTrace(bytes)
  if (!traces || newer.length === 0) return
  const branch = await lineageOf(workspace)
  const older = await traces.find(branch, ino)
  await traces.put(branch, ino, joinTraces(newer, older), clock.nowMs())
}

/** All layers of a workspace share the traces of main: an attempt reads what the attempt before it read. */
async function lineageOf(workspace: OpenWorkspace): Promise<BranchId> {
  return (await workspace.branch('main')).id
}

interface Piece {
  readonly ino: Ino
  readonly offset: number
  readonly extents: readonly Extent[]
  readonly length: number
}

/**
 * What earlier mounts read first, as the session may see it now. Each part is of some moment between the two that the
 * answer begins with. What is gone, or hidden from the session, is left out.
 */
export async function readAhead(
  place: ReadPlace,
  { ino, from, bytes }: Question<'ahead'>,
): Promise<Uint8Array> {
  const { seq: since } = place
  const trace = await findTrace(place, ino)
  const bytesMax = Math.min(bytes, answerBytesMax)
  const directories = new Writer(1 << 12)
  const pieces: Piece[] = []
  const end = Math.min(trace.length, from + itemsPerAnswer)
  let [next, size, count] = [from, 0, 0]
  for (; next < end && size + directories.length < bytesMax; next++) {
    const item = trace[next]!
    const found = await unlessGone(() => readItem(place, item))
    if (!found) continue
    if ('extents' in found) size += found.length
    if ('extents' in found) pieces.push(found)
    else {
      directories.varint(item.ino).varint(found.count).raw(found.bytes)
      count++
    }
  }
  const contents = await writePieces(place, pieces)
  const head = new Writer(32).varint(since).varint(place.seq)
  head.varint(next < trace.length ? next : 0).varint(count)
  return head.raw(directories.finish()).raw(contents).finish()
}

async function findTrace({ workspace }: ReadPlace, root: Ino): Promise<Trace> {
  const { traces } = workspace
  return traces ? traces.find(await lineageOf(workspace), root) : []
}

type Found = Piece | { readonly count: number; readonly bytes: Uint8Array }

function readItem(place: ReadPlace, { ino, block }: TraceItem): Promise<Found | undefined> {
  if (block === undefined) return wholeDirectory(place, ino)
  return readPlace(place, (view) => planBlock(view, place, ino, block))
}

function planBlock(view: View, { scope }: ReadPlace, ino: Ino, block: number): Piece | undefined {
  scope?.require(view, 'read', ino)
  const file = getInode(view, ino)
  const offset = block * tracedBlockBytes
  const end = Math.min(offset + tracedBlockBytes, file.size)
  if (file.kind !== 'file' || file.nlink === 0 || offset >= end) return undefined
  return { ino, offset, extents: planRead(view, ino, file, offset, end), length: end - offset }
}

/** Files and directories go, and rights are taken away: the mount asks for what it then misses. */
async function unlessGone<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find()
  } catch (error) {
    if (!isAnswer(error)) throw error
    return undefined
  }
}

/** All blobs at once: a store far away takes as long for one as for all. */
async function writePieces(place: ReadPlace, pieces: readonly Piece[]): Promise<Uint8Array> {
  const extents = pieces.flatMap((piece) => piece.extents)
  const fetched = await fetchBlobs(extents, place.workspace.stores.blobs)
  const writer = new Writer(1 << 12).varint(pieces.length)
  for (const piece of pieces)
    writer.varint(piece.ino).varint(piece.offset).bytes(joinExtents(piece.extents, fetched))
  return writer.finish()
}
