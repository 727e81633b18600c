import type { Dentry, View } from '@cairn/core'
import { type ByteString, FsError, fromByteString, type Name } from '@cairn/protocol'
import type { DirectoryEntry } from '../subject.ts'
import type { Descriptor } from './descriptors.ts'
import { fileKind } from './translate.ts'

interface Listed extends Dentry {
  readonly name: ByteString
}

/** The next entries of an open directory, as many as fit; the descriptor moves behind them. */
export function listEntries(
  view: View,
  descriptor: Descriptor,
  bufferBytes: number,
): readonly DirectoryEntry[] {
  const next = entriesAfter(view, descriptor, Math.ceil(bufferBytes / recordBytes('')))
  const fitting: Listed[] = []
  let left = bufferBytes
  for (const entry of next) {
    left -= recordBytes(entry.name)
    if (left < 0) break
    fitting.push(entry)
  }
  if (next.length > 0 && fitting.length === 0) throw new FsError('EINVAL')
  descriptor.listed = fitting.at(-1)?.name ?? descriptor.listed
  descriptor.offset = descriptor.places.push(descriptor.listed)
  return fitting.map(({ name, kind, ino }) => ({
    name: fromByteString(name),
    kind: fileKind(kind),
    ino: BigInt(ino),
  }))
}

/** The tree has neither `.` nor `..`; they come first. */
function entriesAfter(view: View, { ino, listed }: Descriptor, limit: number): readonly Listed[] {
  const { kind, nlink, home } = view.inode(ino)!
  if (kind !== 'directory') throw new FsError('ENOTDIR')
  if (nlink === 0) throw new FsError('ENOENT')
  const dots: Listed[] = [
    { name: '.', ino, kind },
    { name: '..', ino: home?.parent ?? ino, kind },
  ]
  const isDot = listed === undefined || listed === '.' || listed === '..'
  if (!isDot) return view.entries(ino, listed as Name, limit)
  const left = dots.slice(dots.findIndex(({ name }) => name === listed) + 1)
  return [...left, ...view.entries(ino, undefined, limit)]
}

/** The size of a `linux_dirent64`. */
function recordBytes(name: ByteString): number {
  return Math.ceil((19 + name.length + 1) / 8) * 8
}
