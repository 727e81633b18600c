import {
  type ByteString,
  CairnError,
  type Hash,
  hashBytes,
  type Ino,
  type Name,
  Reader,
  Writer,
} from '@cairn/protocol'
import type { BlockRef } from '../content/block.ts'
import { type Content } from '../content/content.ts'
import { Extents } from '../content/extents.ts'
import { type Dentry, type Inode, type Kind, kinds, type Time, type Xattrs } from './inode.ts'
import { keyKinds } from './keys.ts'

/** The values of the tree, as docs/internals/format.md has them. */

const inodeVersion = 1
const flags = { home: 1, xattrs: 2, ctime: 4, atime: 8, inline: 16, blob: 32 } as const
const scratch = new Writer(512)

/** A file must be folded first: what was written since has no place in the tree. */
export function encodeInode(inode: Inode): Uint8Array {
  const { first, allocated } = inode.content ?? { first: undefined, allocated: 0 }
  const writer = scratch.reset()
  // First, because it is what inner nodes sum up: `weighEntry` reads nothing else.
  writer.varint(allocated).u8((inodeVersion << 4) | kinds.indexOf(inode.kind))
  writer.u8(flagsOf(inode, first)).varint(inode.mode).varint(inode.uid).varint(inode.gid)
  writer.varint(inode.size).varint(inode.nlink)
  writeTime(writer, inode.mtime)
  if (!sameTime(inode.ctime, inode.mtime)) writeTime(writer, inode.ctime)
  if (!sameTime(inode.atime, inode.mtime)) writeTime(writer, inode.atime)
  if (inode.home) writer.varint(inode.home.parent).byteString(inode.home.name)
  if (isDevice(inode.kind)) writer.varint(inode.rdev)
  if (inode.target) writer.bytes(inode.target)
  if (first) writeBlock(writer, first)
  if (inode.xattrs) writeXattrs(writer, inode.xattrs)
  return writer.finish()
}

export function decodeInode(value: Uint8Array): Inode {
  const reader = new Reader(value, 'inode')
  const allocated = reader.varint()
  const kind = readKind(reader)
  const flag = reader.u8()
  const mode = reader.varint()
  const uid = reader.varint()
  const gid = reader.varint()
  const size = reader.varint()
  const nlink = reader.varint()
  const mtime = readTime(reader)
  const ctime = flag & flags.ctime ? readTime(reader) : mtime
  const atime = flag & flags.atime ? readTime(reader) : mtime
  const home =
    flag & flags.home
      ? { parent: reader.varint() as Ino, name: reader.byteString() as Name }
      : undefined
  const rdev = isDevice(kind) ? reader.varint() : 0
  const target = kind === 'symlink' ? reader.bytes() : undefined
  const content = kind === 'file' ? readContent(reader, flag, allocated, size) : undefined
  const xattrs = flag & flags.xattrs ? readXattrs(reader) : undefined
  reader.end()
  return {
    kind,
    mode,
    uid,
    gid,
    size,
    nlink,
    rdev,
    atime,
    mtime,
    ctime,
    home,
    target,
    xattrs,
    content,
  }
}

function flagsOf(inode: Inode, first: BlockRef | undefined): number {
  return (
    (inode.home ? flags.home : 0) |
    (inode.xattrs ? flags.xattrs : 0) |
    (sameTime(inode.ctime, inode.mtime) ? 0 : flags.ctime) |
    (sameTime(inode.atime, inode.mtime) ? 0 : flags.atime) |
    (first?.type === 'inline' ? flags.inline : 0) |
    (first?.type === 'blob' ? flags.blob : 0)
  )
}

function readKind(reader: Reader): Kind {
  const byte = reader.u8()
  const version = byte >>> 4
  if (version > inodeVersion)
    throw new CairnError('unsupported_version', {
      message: `cannot read the inode: it has format ${version}`,
    })
  const kind = kinds[byte & 0xf]
  if (version === 0 || !kind) throw reader.malformed(`inode format ${version}, kind ${byte & 0xf}`)
  return kind
}

function readContent(reader: Reader, flag: number, allocated: number, size: number): Content {
  const type = flag & flags.inline ? 'inline' : flag & flags.blob ? 'blob' : undefined
  const first = type && readBlock(reader, type)
  return { first, allocated, foldedEnd: size, extents: Extents.none }
}

export function encodeDentry(dentry: Dentry): Uint8Array {
  return scratch.reset().varint(dentry.ino).u8(kinds.indexOf(dentry.kind)).finish()
}

export function decodeDentry(value: Uint8Array): Dentry {
  const reader = new Reader(value, 'directory entry')
  const ino = reader.varint() as Ino
  const kind = kinds[reader.u8()]
  if (!kind) throw reader.malformed('an unknown kind')
  reader.end()
  return { ino, kind }
}

export function encodeBlock(block: BlockRef): Uint8Array {
  const writer = scratch.reset().u8(block.type === 'inline' ? flags.inline : flags.blob)
  writeBlock(writer, block)
  return writer.finish()
}

export function decodeBlock(value: Uint8Array): BlockRef {
  const reader = new Reader(value, 'block reference')
  const type = reader.u8()
  if (type !== flags.inline && type !== flags.blob) throw reader.malformed('an unknown kind')
  const block = readBlock(reader, type === flags.inline ? 'inline' : 'blob')
  reader.end()
  return block
}

/** What inner nodes sum: the bytes of content below them. */
export function weighEntry(key: Uint8Array, value: Uint8Array): number {
  return key[0] === keyKinds.inode ? new Reader(value, 'inode').varint() : 0
}

function writeBlock(writer: Writer, block: BlockRef): void {
  if (block.type === 'inline') writer.bytes(block.bytes)
  else writer.rawByteString(block.id).varint(block.length)
}

function readBlock(reader: Reader, type: BlockRef['type']): BlockRef {
  if (type === 'inline') return { type, bytes: reader.bytes() }
  return { type, id: reader.rawByteString(hashBytes) as Hash, length: reader.varint() }
}

export function writeTime(writer: Writer, time: Time): void {
  writer.signed(time.sec).u32(time.nsec)
}

export function readTime(reader: Reader): Time {
  const sec = reader.signed()
  const nsec = reader.u32()
  if (nsec > 999_999_999) throw reader.malformed('a time beyond its second')
  return { sec, nsec }
}

function writeXattrs(writer: Writer, xattrs: Xattrs): void {
  writer.varint(xattrs.size)
  for (const [name, value] of [...xattrs].sort(([a], [b]) => (a < b ? -1 : 1)))
    writer.byteString(name).bytes(value)
}

function readXattrs(reader: Reader): Xattrs {
  const xattrs = new Map<ByteString, Uint8Array>()
  for (let left = reader.count(2); left > 0; left--) {
    const name = reader.byteString()
    xattrs.set(name, reader.bytes())
  }
  return xattrs
}

export function sameTime(a: Time, b: Time): boolean {
  return a.sec === b.sec && a.nsec === b.nsec
}

function isDevice(kind: Kind): boolean {
  return kind === 'character' || kind === 'block'
}
