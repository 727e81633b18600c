import { decodeInode, type Inode, type Link } from '@cairn/core'
import { type Hash, hashBytes, type Ino, type Name, Reader } from '@cairn/protocol'

/** Answers tell of the branch as it was at `seq` of its log. */
interface Dated {
  readonly seq: number
}

/** What a server tells of an inode: attributes, without references to content. */
export interface InodeAnswer extends Dated {
  readonly inode: Inode
  /** All its names when it has two or more, else none. */
  readonly links: readonly Link[]
}

export interface EntryAnswer {
  readonly name: Name
  readonly ino: Ino
  readonly inode: Inode
  readonly links: readonly Link[]
}

export interface DirectoryAnswer extends Dated {
  readonly entries: readonly EntryAnswer[]
  /** There are no names after these. */
  readonly done: boolean
}

export interface SubtreeAnswer extends Dated {
  /** Each whole, the one that was asked for first. */
  readonly directories: readonly { readonly ino: Ino; readonly entries: readonly EntryAnswer[] }[]
}

/** What earlier mounts read first: as it was between `since` and `seq`. */
export interface AheadAnswer extends SubtreeAnswer {
  readonly since: number
  /** Where the next question goes on; 0 at the end. */
  readonly next: number
  readonly pieces: readonly {
    readonly ino: Ino
    readonly offset: number
    readonly bytes: Uint8Array
  }[]
}

export interface ContentAnswer extends Dated {
  readonly bytes: Uint8Array
}

/** What a change of the whole tree changed. */
export interface ChangesAnswer {
  readonly inodes: readonly Ino[]
  readonly names: readonly Link[]
}

export function decodeInodeAnswer(answer: Uint8Array): InodeAnswer {
  const reader = new Reader(answer, 'inode answer')
  const decoded = { seq: reader.varint(), ...readInode(reader) }
  reader.end()
  return decoded
}

export function decodeDirectoryAnswer(answer: Uint8Array): DirectoryAnswer {
  const reader = new Reader(answer, 'directory answer')
  const seq = reader.varint()
  const done = reader.u8() === 1
  const entries = readEntries(reader)
  reader.end()
  return { seq, entries, done }
}

export function decodeSubtreeAnswer(answer: Uint8Array): SubtreeAnswer {
  const reader = new Reader(answer, 'subtree answer')
  const seq = reader.varint()
  const directories: SubtreeAnswer['directories'][number][] = []
  while (reader.remaining > 0)
    directories.push({ ino: reader.positive() as Ino, entries: readEntries(reader) })
  return { seq, directories }
}

export function decodeAheadAnswer(answer: Uint8Array): AheadAnswer {
  const reader = new Reader(answer, 'ahead answer')
  const [since, seq, next] = [reader.varint(), reader.varint(), reader.varint()]
  const directories: SubtreeAnswer['directories'][number][] = []
  for (let left = reader.count(2); left > 0; left--)
    directories.push({ ino: reader.positive() as Ino, entries: readEntries(reader) })
  const pieces: AheadAnswer['pieces'][number][] = []
  for (let left = reader.count(3); left > 0; left--)
    pieces.push({ ino: reader.positive() as Ino, offset: reader.varint(), bytes: reader.bytes() })
  reader.end()
  return { since, seq, next, directories, pieces }
}

export function decodeContentAnswer(answer: Uint8Array): ContentAnswer {
  const reader = new Reader(answer, 'content answer')
  const seq = reader.varint()
  return { seq, bytes: reader.raw(reader.remaining) }
}

/** Undefined for a block of zeros, which needs no blob. */
export function decodeBlobAnswer(
  answer: Uint8Array,
): { readonly id: Hash; readonly length: number } | undefined {
  if (answer.length === 0) return undefined
  const reader = new Reader(answer, 'blob answer')
  const blob = { id: reader.rawByteString(hashBytes) as Hash, length: reader.varint() }
  reader.end()
  return blob
}

export function decodeInodesAnswer(answer: Uint8Array): {
  readonly first: number
  readonly count: number
} {
  const reader = new Reader(answer, 'inodes answer')
  const range = { first: reader.positive(), count: reader.positive() }
  reader.end()
  return range
}

export interface ConflictAnswer {
  readonly kind: string
  readonly path: string
}

export function decodeConflictsAnswer(answer: Uint8Array): readonly ConflictAnswer[] {
  const reader = new Reader(answer, 'conflicts answer')
  const conflicts: ConflictAnswer[] = []
  for (let left = reader.count(2); left > 0; left--)
    conflicts.push({ kind: reader.text(), path: reader.text() })
  reader.end()
  return conflicts
}

export function decodeChangesAnswer(answer: Uint8Array): ChangesAnswer {
  const reader = new Reader(answer, 'changes answer')
  const inodes: Ino[] = []
  for (let left = reader.count(); left > 0; left--) inodes.push(reader.positive() as Ino)
  const names = readLinks(reader)
  reader.end()
  return { inodes, names }
}

function readEntries(reader: Reader): readonly EntryAnswer[] {
  const entries: EntryAnswer[] = []
  for (let left = reader.count(4); left > 0; left--) {
    const name = reader.byteString() as Name
    const ino = reader.positive() as Ino
    entries.push({ name, ino, ...readInode(reader) })
  }
  return entries
}

function readInode(reader: Reader): { readonly inode: Inode; readonly links: readonly Link[] } {
  const inode = decodeInode(reader.bytes())
  const allocated = reader.varint()
  const content = inode.content && { ...inode.content, allocated }
  return { inode: content ? { ...inode, content } : inode, links: readLinks(reader) }
}

function readLinks(reader: Reader): readonly Link[] {
  const links: Link[] = []
  for (let left = reader.count(2); left > 0; left--)
    links.push({ parent: reader.positive() as Ino, name: reader.byteString() as Name })
  return links
}
