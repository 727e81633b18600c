import {
  type ByteString,
  CairnError,
  type Ino,
  isName,
  type Name,
  toByteString,
  toHex,
} from '@cairn/protocol'
import type { Link } from './inode.ts'

/**
 * The keys of the tree. Numbers are big-endian, so that a directory, an inode's links and a file's blocks
 * are each one key range. The first byte keeps the four kinds apart.
 */
export const keyKinds = { inode: 1, dentry: 2, link: 3, block: 4 } as const

export type Key =
  | { readonly type: 'inode'; readonly ino: Ino }
  | { readonly type: 'dentry'; readonly parent: Ino; readonly name: Name }
  | { readonly type: 'link'; readonly ino: Ino; readonly link: Link }
  | { readonly type: 'block'; readonly ino: Ino; readonly index: number }

export function inodeKey(ino: Ino): Uint8Array {
  return numbered(keyKinds.inode, ino, 9)
}

export function dentryKey(parent: Ino, name: ByteString): Uint8Array {
  const key = numbered(keyKinds.dentry, parent, 9 + name.length)
  putByteString(key, 9, name)
  return key
}

export function linkKey(ino: Ino, link: Link): Uint8Array {
  const key = numbered(keyKinds.link, ino, 17 + link.name.length)
  putNumber(key, 9, link.parent)
  putByteString(key, 17, link.name)
  return key
}

export function blockKey(ino: Ino, index: number): Uint8Array {
  const key = numbered(keyKinds.block, ino, 13)
  new DataView(key.buffer).setUint32(9, index)
  return key
}

/** Where the keys of that kind and number begin; those of the next number begin at `ino + 1`. */
export function rangeStart(kind: keyof typeof keyKinds, ino: number): Uint8Array {
  return numbered(keyKinds[kind], ino, 9)
}

export function parseKey(key: Uint8Array): Key {
  switch (key[0]) {
    case keyKinds.inode:
      requireLength(key, 9)
      return { type: 'inode', ino: getIno(key, 1) }
    case keyKinds.dentry:
      return { type: 'dentry', parent: getIno(key, 1), name: getName(key, 9) }
    case keyKinds.link: {
      const link = { parent: getIno(key, 9), name: getName(key, 17) }
      return { type: 'link', ino: getIno(key, 1), link }
    }
    case keyKinds.block:
      requireLength(key, 13)
      return { type: 'block', ino: getIno(key, 1), index: getIndex(key) }
    case undefined:
    case 0:
      throw malformed(key, 'no kind')
    default:
      throw unsupported(key)
  }
}

function numbered(kind: number, value: number, length: number): Uint8Array {
  const key = new Uint8Array(length)
  key[0] = kind
  putNumber(key, 1, value)
  return key
}

function putNumber(bytes: Uint8Array, at: number, value: number): void {
  const high = Math.floor(value / 0x100000000)
  bytes[at] = high >>> 24
  bytes[at + 1] = high >>> 16
  bytes[at + 2] = high >>> 8
  bytes[at + 3] = high
  bytes[at + 4] = value >>> 24
  bytes[at + 5] = value >>> 16
  bytes[at + 6] = value >>> 8
  bytes[at + 7] = value
}

function requireLength(key: Uint8Array, length: number): void {
  if (key.length !== length) throw malformed(key, `${key.length} bytes`)
}

function getIno(key: Uint8Array, at: number): Ino {
  if (key.length < at + 8) throw malformed(key, 'its end too early')
  let value = 0
  for (let i = at; i < at + 8; i++) value = value * 0x100 + key[i]!
  if (value === 0 || value > Number.MAX_SAFE_INTEGER) throw malformed(key, 'no inode number')
  return value as Ino
}

function getName(key: Uint8Array, at: number): Name {
  const name = toByteString(key.subarray(at))
  if (!isName(name)) throw malformed(key, 'no name')
  return name
}

/** Block 0 has no key: it stands in the inode. */
function getIndex(key: Uint8Array): number {
  const index = new DataView(key.buffer, key.byteOffset).getUint32(9)
  if (index === 0) throw malformed(key, 'block 0')
  return index
}

function putByteString(bytes: Uint8Array, at: number, text: ByteString): void {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
}

function malformed(key: Uint8Array, found: string): CairnError {
  const subject = toHex(toByteString(key))
  const [what, reason] = [`read tree key ${subject}`, `found ${found}`]
  return new CairnError('malformed', { what, reason, subject })
}

function unsupported(key: Uint8Array): CairnError {
  const subject = toHex(toByteString(key))
  const [what, reason] = [`read tree key ${subject}`, `it has kind ${key[0]}`]
  return new CairnError('unsupported_version', { what, reason, subject })
}
