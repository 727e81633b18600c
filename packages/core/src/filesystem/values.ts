import {
  type ByteString,
  fileKinds,
  type Hash,
  hashBytes,
  type Name,
  Reader,
  Writer,
} from '@cairn/protocol'
import { type BlockRef, blockBytes } from '../content/block.ts'
import { type Content } from '../content/content.ts'
import { Extents } from '../content/extents.ts'
import { readIno, readTime, u32Max, writeTime } from './field-codecs.ts'
import { findBlockProblem, findInodeProblem } from './inode-invariants.ts'
import { type Dentry, type Inode, isDevice, modeBits, type Xattrs } from './inode.ts'
import type { Time } from '../ports/records.ts'
import { keyKinds } from './keys.ts'

/** The values of the tree, as docs/internals/format.md has them. */

const valueVersion = 1
const flags = { home: 1, xattrs: 2, ctime: 4, atime: 8, inline: 16, blob: 32 } as const
const blockTypes = ['inline', 'blob'] as const satisfies readonly BlockRef['type'][]
const scratch = new Writer(512)

/** A file must be folded first: what was written since has no place in the tree. */
export function encodeInode(inode: Inode): Uint8Array {
  const problem = findInodeProblem(inode)
  if (problem) throw new Error(`an inode that must not be written: ${problem}`)
  const { first, allocated } = inode.content ?? noContent
  const writer = scratch.reset()
  // First, because it is what inner nodes sum up: `weighEntry` reads nothing else.
  writer.varint(allocated)
  writeForm(writer, fileKinds, inode.kind)
  writer.u8(flagsOf(inode)).varint(inode.mode, modeBits.all)
  writer.varint(inode.uid, u32Max).varint(inode.gid, u32Max)
  writer.varint(inode.size).varint(inode.nlink)
  writeTime(writer, inode.mtime)
  if (!sameTime(inode.ctime, inode.mtime)) writeTime(writer, inode.ctime)
  if (!sameTime(inode.atime, inode.mtime)) writeTime(writer, inode.atime)
  if (inode.home) writer.positive(inode.home.parent).byteString(inode.home.name)
  if (isDevice(inode.kind)) writer.varint(inode.rdev, u32Max)
  if (inode.target) writer.bytes(inode.target)
  if (first) writeBlock(writer, first)
  if (inode.xattrs) writeXattrs(writer, inode.xattrs)
  return writer.finish()
}

const noContent = { first: undefined, allocated: 0 }

export function decodeInode(value: Uint8Array): Inode {
  const reader = new Reader(value, 'inode')
  const allocated = reader.varint()
  const kind = readForm(reader, fileKinds)
  const flag = reader.u8()
  const mode = reader.varint(modeBits.all)
  const uid = reader.varint(u32Max)
  const gid = reader.varint(u32Max)
  const size = reader.varint()
  const nlink = reader.varint()
  const mtime = readTime(reader)
  const ctime = flag & flags.ctime ? readTime(reader) : mtime
  const atime = flag & flags.atime ? readTime(reader) : mtime
  const home =
    flag & flags.home ? { parent: readIno(reader), name: reader.byteString() as Name } : undefined
  const rdev = isDevice(kind) ? reader.varint(u32Max) : 0
  const target = kind === 'symlink' ? reader.bytes() : undefined
  const content = kind === 'file' ? readContent(reader, flag, allocated, size) : undefined
  const xattrs = flag & flags.xattrs ? readXattrs(reader) : undefined
  reader.end()
  const inode: Inode = {
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
  // Says no to unknown flags, to those of another kind, and to a time written twice.
  if (flag !== flagsOf(inode)) throw reader.malformed(`flags ${flag}`)
  if (!content && allocated > 0) throw reader.malformed('content')
  const problem = findInodeProblem(inode)
  if (problem) throw reader.malformed(problem)
  return inode
}

function flagsOf(inode: Inode): number {
  const first = inode.content?.first
  return (
    (inode.home ? flags.home : 0) |
    (inode.xattrs ? flags.xattrs : 0) |
    (sameTime(inode.ctime, inode.mtime) ? 0 : flags.ctime) |
    (sameTime(inode.atime, inode.mtime) ? 0 : flags.atime) |
    (first ? flags[first.type] : 0)
  )
}

function readContent(reader: Reader, flag: number, allocated: number, size: number): Content {
  const type = blockTypes.find((each) => flag & flags[each])
  const first = type && readBlock(reader, type)
  return { first, allocated, foldedEnd: size, extents: Extents.none }
}

export function encodeDentry(dentry: Dentry): Uint8Array {
  const writer = scratch.reset()
  writeForm(writer, fileKinds, dentry.kind)
  return writer.positive(dentry.ino).finish()
}

export function decodeDentry(value: Uint8Array): Dentry {
  const reader = new Reader(value, 'directory entry')
  const kind = readForm(reader, fileKinds)
  const ino = readIno(reader)
  reader.end()
  return { ino, kind }
}

/** A link says everything in its key: its value is empty. */
export function checkLink(value: Uint8Array): void {
  new Reader(value, 'link').end()
}

export function encodeBlock(block: BlockRef): Uint8Array {
  const problem = findBlockProblem(block)
  if (problem) throw new Error(`a block that must not be written: ${problem}`)
  const writer = scratch.reset()
  writeForm(writer, blockTypes, block.type)
  writeBlock(writer, block)
  return writer.finish()
}

export function decodeBlock(value: Uint8Array): BlockRef {
  const reader = new Reader(value, 'block reference')
  const block = readBlock(reader, readForm(reader, blockTypes))
  reader.end()
  const problem = findBlockProblem(block)
  if (problem) throw reader.malformed(problem)
  return block
}

/** What inner nodes sum: the bytes of content below them. */
export function weighEntry(key: Uint8Array, value: Uint8Array): number {
  return key[0] === keyKinds.inode ? new Reader(value, 'inode').varint() : 0
}

/** One byte: the version of the value's format, and which one of a list that only ever grows at its end. */
function writeForm<T>(writer: Writer, choices: readonly T[], chosen: T): void {
  writer.u8((valueVersion << 4) | choices.indexOf(chosen))
}

function readForm<T>(reader: Reader, choices: readonly T[]): T {
  const byte = reader.u8()
  const version = byte >>> 4
  const choice = choices[byte & 0xf]
  if (version === 0) throw reader.malformed('format 0')
  if (version > valueVersion || choice === undefined) throw reader.unsupported(`form ${byte}`)
  return choice
}

function writeBlock(writer: Writer, block: BlockRef): void {
  if (block.type === 'inline') writer.bytes(block.bytes)
  else writer.rawByteString(block.id).varint(block.length)
}

function readBlock(reader: Reader, type: BlockRef['type']): BlockRef {
  if (type === 'inline') return { type, bytes: reader.bytes() }
  return { type, id: reader.rawByteString(hashBytes) as Hash, length: reader.varint(blockBytes) }
}

function writeXattrs(writer: Writer, xattrs: Xattrs): void {
  writer.varint(xattrs.size)
  for (const [name, value] of [...xattrs].sort(([a], [b]) => (a < b ? -1 : 1)))
    writer.byteString(name).bytes(value)
}

function readXattrs(reader: Reader): Xattrs {
  const xattrs = new Map<ByteString, Uint8Array>()
  let previous = ''
  for (let left = reader.count(3); left > 0; left--) {
    const name = reader.byteString()
    // Below every name stands the empty one, which is none.
    if (name <= previous) throw reader.malformed('attributes out of order')
    xattrs.set(name, reader.bytes())
    previous = name
  }
  return xattrs
}

export function sameTime(a: Time, b: Time): boolean {
  return a.sec === b.sec && a.nsec === b.nsec
}
