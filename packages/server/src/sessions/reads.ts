import {
  type BatchBody,
  blobBytesMax,
  blobHeadBytesMax,
  type Data,
  decodeInSteps,
  findChangedKeys,
  type Link,
  seekData,
  seekHole,
} from '@cairn/core'
import {
  CairnError,
  encodeInos,
  FsError,
  type Ino,
  messageBytesMax,
  type SessionRequest,
  Writer,
} from '@cairn/protocol'
import { seenOf, seenOfOps } from './seen-parts.ts'
import type { TouchedNames } from '../access/session-scope.ts'
import { storeBlock } from '../files/receive.ts'
import { planRead, sendExtents } from '../files/send.ts'
import { type Doubts, getInode, writeInode } from './inode-writer.ts'
import { directoryPage, subtree } from './listing.ts'
import { type ReadPlace, readPlace } from './place.ts'
import { readAhead } from './traces.ts'

export type ReadRequest = Extract<
  SessionRequest,
  {
    type:
      | 'inode'
      | 'directory'
      | 'subtree'
      | 'ahead'
      | 'content'
      | 'seek'
      | 'changes'
      | 'nameless'
      | 'blob'
      | 'inodes'
  }
>

const contentBytesMax = 4 << 20
const inodesMax = 100_000
const changedKeysMax = 150_000
/** What is left for the answer in its message. */
const answerBytesMax = messageBytesMax - 64

/** The size of a page of names, about; other answers are shorter. */
const listingBytes = 256 << 10

/** How much memory an answer takes, about, before it is known. */
export function answerBytesOf(request: ReadRequest): number {
  if (request.type === 'ahead') return Math.min(request.bytes, contentBytesMax)
  if (request.type === 'content') return Math.min(request.length, contentBytesMax)
  return request.type === 'inode' || request.type === 'seek' ? 256 : listingBytes
}

/** Answers what a session asks about its branch, as bytes of docs/internals/protocol.md. */
export async function answerRead(place: ReadPlace, request: ReadRequest): Promise<Uint8Array> {
  // A client may ask for many at once.
  const { pacer } = place.workspace.stores.nodes
  if (pacer.isDue()) await pacer.rest()
  const answer = await answerAny(place, request)
  // A message that the other end cannot take would end the connection, and be asked for again over the next.
  if (answer.length > answerBytesMax) throw tooLarge(`an answer of ${answer.length} bytes`)
  return answer
}

function answerAny(place: ReadPlace, request: ReadRequest): Promise<Uint8Array> {
  switch (request.type) {
    case 'inode':
      return withoutDoubts(place, (doubts) => readInode(place, request, doubts))
    case 'directory':
      return withoutDoubts(place, (doubts) => directoryPage(place, request, doubts))
    case 'subtree':
      return withoutDoubts(place, (doubts) => subtree(place, request, doubts))
    case 'ahead':
      return readAhead(place, request)
    case 'content':
      return readContent(place, request)
    case 'seek':
      return seekContent(place, request)
    case 'changes':
      return readChanges(place, request.seq)
    case 'nameless':
      return readNameless(place)
    case 'blob':
      place.scope?.requireSomewhere('write')
      return storeBlob(place, request.bytes)
    case 'inodes':
      place.scope?.requireSomewhere('write')
      return takeInodes(place, request.count)
  }
}

/**
 * The number of bytes that a file takes is the same before and after a fold, so that all mounts show the same. Where it
 * is known only after a fold, the branch is folded. On a full disk the answer is the most that it can be.
 */
async function withoutDoubts(
  { branch }: ReadPlace,
  make: (doubts: Doubts) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const doubts = { some: false }
  const answer = await make(doubts)
  if (!doubts.some) return answer
  try {
    await branch.fold()
  } catch {
    return answer
  }
  return make({ some: false })
}

function readInode(
  place: ReadPlace,
  { ino }: Extract<ReadRequest, { type: 'inode' }>,
  doubts: Doubts,
): Promise<Uint8Array> {
  return readPlace(place, (view) => {
    const writer = new Writer(256).varint(place.seq)
    writeInode(writer, place.scope?.see(view) ?? view, ino, doubts)
    return writer.finish()
  })
}

async function readContent(
  place: ReadPlace,
  { ino, offset, length }: Extract<ReadRequest, { type: 'content' }>,
): Promise<Uint8Array> {
  if (length > contentBytesMax) throw tooLarge(`more than ${contentBytesMax} bytes at once`)
  const { seq, extents } = await readPlace(place, (view) => {
    place.scope?.require(view, 'read', ino)
    const file = getInode(view, ino)
    if (file.kind !== 'file') throw new FsError('EINVAL')
    const end = Math.min(offset + length, file.size)
    return { seq: place.seq, extents: planRead(view, ino, file, offset, end) }
  })
  const pieces: Uint8Array[] = [new Writer(8).varint(seq).finish()]
  for await (const piece of sendExtents(extents, place.workspace.stores.blobs)) pieces.push(piece)
  return Buffer.concat(pieces)
}

function seekContent(
  place: ReadPlace,
  { ino, offset, hole }: Extract<ReadRequest, { type: 'seek' }>,
): Promise<Uint8Array> {
  return readPlace(place, (view) => {
    place.scope?.require(view, 'read', ino)
    const { content, size } = getInode(view, ino)
    if (!content) throw new FsError('EINVAL')
    const find = hole === 1 ? seekHole : seekData
    const found = find(content, (index) => view.blockFrom(ino, index), size, offset)
    return new Writer(8).varint(found).finish()
  })
}

async function readChanges(place: ReadPlace, seq: number): Promise<Uint8Array> {
  const { workspace, branch } = place
  const [row] = seq > 0 ? await workspace.stores.log.read(branch.id, seq - 1, 1) : []
  const batch = row && (await workspace.stores.nodes.run(decodeInSteps(row.bytes)))
  if (!batch) throw new FsError('EINVAL')
  const changed = await changesOf(place, batch.body)
  const inodes = [...changed.inodes]
  const writer = new Writer(4096).varint(inodes.length)
  for (const ino of inodes) writer.varint(ino)
  writer.varint(changed.names.length)
  for (const { parent, name } of changed.names) writer.varint(parent).byteString(name)
  return writer.finish()
}

/** Operations are told only to a client that may not see them as they are. */
async function changesOf(
  { workspace, branch, scope }: ReadPlace,
  body: BatchBody,
): Promise<TouchedNames> {
  const place = scope && { workspace, branch, scope }
  if (place && body.type === 'ops') return joined(seenOfOps(place, body.ops))
  if (body.type !== 'root') throw new FsError('EINVAL')
  const { before, after } = body.change
  const changed = await findChangedKeys(workspace.stores.nodes, before, after, changedKeysMax)
  if (!changed) throw tooLarge(`more than ${changedKeysMax} changes at once`)
  return place ? joined(seenOf(place, changed)) : changed
}

async function joined(parts: AsyncIterable<TouchedNames>): Promise<TouchedNames> {
  const [inodes, names] = [new Set<Ino>(), new Map<string, Link>()]
  for await (const part of parts) {
    for (const ino of part.inodes) inodes.add(ino)
    for (const link of part.names) names.set(`${link.parent} ${link.name}`, link)
  }
  return { inodes, names: [...names.values()] }
}

/** Numbers alone: what such a file holds is asked for like any other. */
async function readNameless({ branch, scope }: ReadPlace): Promise<Uint8Array> {
  const nameless = await branch.head.nameless()
  const told = scope ? nameless.filter((ino) => scope.mayKnow(ino)) : nameless
  return encodeInos(told.slice(0, inodesMax))
}

/** Gives the blob's id, or nothing for a block of zeros, which needs no blob. */
async function storeBlob(
  { workspace, scope, unused }: ReadPlace,
  bytes: Uint8Array,
): Promise<Uint8Array> {
  if (bytes.length > blobBytesMax) throw tooLarge(`a blob of ${bytes.length} bytes`)
  const store = (): Promise<Data | undefined> =>
    storeBlock(bytes, workspace.stores.blobs, blobHeadBytesMax)
  const data = await (unused ? unused.store(bytes.length, store) : store())
  // DURABLE: the bytes are in the store; operations may refer to them.
  if (data?.type !== 'blob') return new Uint8Array()
  workspace.storedBlobs.note(data.id, data.blobLength)
  await scope?.noteStored(data.id)
  return new Writer(48).rawByteString(data.id).varint(data.blobLength).finish()
}

async function takeInodes({ workspace, scope }: ReadPlace, count: number): Promise<Uint8Array> {
  const taken = Math.min(Math.max(1, count), inodesMax)
  const first = await workspace.takeInodes(taken)
  await scope?.noteInodes(first, taken)
  return new Writer(16).varint(first).varint(taken).finish()
}

function tooLarge(what: string): CairnError {
  return new CairnError('too_large', { what: 'answer the session', reason: `it asked for ${what}` })
}
