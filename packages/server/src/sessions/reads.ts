import {
  allocatedBytes,
  type Branch,
  encodeInode,
  Extents,
  type Inode,
  type View,
} from '@cairn/core'
import {
  CairnError,
  FsError,
  fromByteString,
  type Ino,
  type SessionRequest,
  Writer,
} from '@cairn/protocol'
import { planRead, sendExtents } from '../files/send.ts'
import { storeBlock } from '../files/receive.ts'
import type { Workspace } from '../workspaces/workspace.ts'

export type ReadRequest = Extract<
  SessionRequest,
  { type: 'inode' | 'directory' | 'content' | 'blob' | 'inodes' }
>

const entriesMax = 1000
const contentBytesMax = 4 << 20
const inodesMax = 100_000

interface Place {
  readonly workspace: Workspace
  readonly branch: Branch
}

/** Answers what a session asks about the branch's head, as bytes of docs/internals/protocol.md. */
export async function answerRead(place: Place, request: ReadRequest): Promise<Uint8Array> {
  const { workspace, branch } = place
  switch (request.type) {
    case 'inode':
      return workspace.read(branch, (view) => wireInode(getInode(view, request.ino)))
    case 'directory':
      return workspace.read(branch, (view) => directoryPage(view, request))
    case 'content':
      return readContent(place, request)
    case 'blob':
      return storeBlob(workspace, request.bytes)
    case 'inodes':
      return takeInodes(workspace, request.count)
  }
}

function getInode(view: View, ino: Ino): Inode {
  const inode = view.inode(ino)
  if (!inode) throw new FsError('ESTALE')
  return inode
}

/** Attributes without references to content: holding a hash would be no right to read it anyway. */
function wireInode(inode: Inode): Uint8Array {
  if (!inode.content) return encodeInode(inode)
  const allocated = allocatedBytes(inode.content)
  const content = { first: undefined, allocated, foldedEnd: inode.size, extents: Extents.none }
  return encodeInode({ ...inode, content })
}

function directoryPage(
  view: View,
  { ino, after, limit }: Extract<ReadRequest, { type: 'directory' }>,
): Uint8Array {
  if (getInode(view, ino).kind !== 'directory') throw new FsError('ENOTDIR')
  const count = Math.min(Math.max(1, limit), entriesMax)
  const entries = view.entries(ino, after === '' ? undefined : (after as never), count)
  const writer = new Writer(4096).varint(entries.length)
  for (const { name, ino: child } of entries)
    writer
      .bytes(fromByteString(name))
      .varint(child)
      .bytes(wireInode(getInode(view, child)))
  return writer.finish()
}

async function readContent(
  { workspace, branch }: Place,
  { ino, offset, length }: Extract<ReadRequest, { type: 'content' }>,
): Promise<Uint8Array> {
  if (length > contentBytesMax)
    throw new CairnError('too_large', {
      message: `cannot read more than ${contentBytesMax} bytes at once`,
    })
  const extents = await workspace.read(branch, (view) => {
    const file = getInode(view, ino)
    if (file.kind !== 'file') throw new FsError('EINVAL')
    return planRead(view, ino, file, offset, Math.min(offset + length, file.size))
  })
  const pieces: Uint8Array[] = []
  for await (const piece of sendExtents(extents, workspace.stores.blobs)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Gives the blob's id, or nothing for a block of zeros, which needs no blob. */
async function storeBlob(workspace: Workspace, bytes: Uint8Array): Promise<Uint8Array> {
  const data = await storeBlock(bytes, workspace.stores.blobs)
  // DURABLE: the bytes are in the store; operations may refer to them.
  if (data?.type !== 'blob') return new Uint8Array()
  return new Writer(48).rawByteString(data.id).varint(data.blobLength).finish()
}

async function takeInodes(workspace: Workspace, count: number): Promise<Uint8Array> {
  const taken = Math.min(Math.max(1, count), inodesMax)
  return new Writer(16)
    .varint(await workspace.takeInodes(taken))
    .varint(taken)
    .finish()
}
