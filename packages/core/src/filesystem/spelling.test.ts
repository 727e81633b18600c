import { type ByteString, Writer } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { checkLink, decodeBlock, decodeDentry, decodeInode, encodeInode } from './values.ts'

/** An inode as format.md has it, field by field, so that each can be given another spelling. */
interface Fields {
  readonly allocated: number
  readonly form: number
  readonly flags: number
  readonly mode: number
  readonly uid: number
  readonly size: number
  readonly nlink: number
  readonly times: readonly (readonly [sec: number, nsec: number])[]
  /** Whatever follows the times. */
  readonly rest: readonly number[]
}

const home = [1, 1, 65]
const directory: Fields = {
  allocated: 0,
  form: 0x11,
  flags: 1,
  mode: 0o755,
  uid: 0,
  size: 0,
  nlink: 2,
  times: [[5, 0]],
  rest: home,
}
const file: Fields = { ...directory, form: 0x10, nlink: 1 }
const inline = { allocated: 3, size: 3, flags: 1 | 16, rest: [...home, 3, 7, 8, 9] }
const blob = (...length: number[]): number[] => [...home, ...Array<number>(32).fill(7), ...length]

function spell(fields: Fields): Uint8Array {
  const writer = new Writer().varint(fields.allocated).u8(fields.form).u8(fields.flags)
  writer.varint(fields.mode).varint(fields.uid).varint(0).varint(fields.size).varint(fields.nlink)
  for (const [sec, nsec] of fields.times) writer.signed(sec).u32(nsec)
  return writer.raw(Uint8Array.from(fields.rest)).finish()
}

const right: Readonly<Record<string, Fields>> = {
  'a directory': directory,
  'the root, which has no home': { ...directory, flags: 0, rest: [] },
  'a directory without a name': { ...directory, flags: 0, nlink: 0, rest: [] },
  'an empty file': file,
  'a file with two names, which stand elsewhere': { ...file, flags: 0, nlink: 2, rest: [] },
  'a file of three bytes': { ...file, ...inline },
  'a file of one blob': { ...file, flags: 33, allocated: 129, size: 129, rest: blob(0x81, 1) },
  'a file that is one hole': { ...file, size: 2 ** 50 },
  'a symlink': { ...file, form: 0x12, size: 2, rest: [...home, 2, 46, 46] },
  'a device': { ...file, form: 0x15, rest: [...home, 9] },
  'other times': {
    ...file,
    flags: 1 | 4 | 8,
    times: [
      [5, 0],
      [6, 0],
      [7, 0],
    ],
  },
  'two attributes': { ...file, flags: 3, rest: [...home, 2, 1, 97, 0, 1, 98, 1, 5] },
}

const wrong: Readonly<Record<string, Fields>> = {
  'an unknown flag': { ...file, flags: 1 | 64 },
  'inline and blob at once': { ...file, ...inline, flags: 1 | 16 | 32 },
  'content in a directory': { ...directory, flags: 1 | 16, rest: [...home, 1, 7] },
  'bytes counted in a directory': { ...directory, allocated: 1 },
  'more mode bits than there are': { ...file, mode: 0o10000 },
  'an owner above 32 bits': { ...file, uid: 2 ** 32 },
  'a ctime written though it is the mtime': {
    ...file,
    flags: 5,
    times: [
      [5, 0],
      [5, 0],
    ],
  },
  'an atime written though it is the mtime': {
    ...file,
    flags: 9,
    times: [
      [5, 0],
      [5, 0],
    ],
  },
  'a billion nanoseconds': { ...file, times: [[5, 1_000_000_000]] },
  'a second beyond all times': { ...file, times: [[2 ** 51, 0]] },
  'one name and no home': { ...file, flags: 0, rest: [] },
  'two names and a home': { ...file, nlink: 2 },
  'no name and a home': { ...file, nlink: 0 },
  'a directory with a home and one link': { ...directory, nlink: 1 },
  'a directory without a home and one link': { ...directory, flags: 0, nlink: 1, rest: [] },
  'a home in directory 0': { ...file, rest: [0, 1, 65] },
  'a home without a name': { ...file, rest: [1, 0] },
  'a home named ..': { ...file, rest: [1, 2, 46, 46] },
  'a home with a slash': { ...file, rest: [1, 3, 65, 47, 65] },
  'a fifo of some size': { ...file, form: 0x13, size: 1 },
  'a symlink of another size than its target': {
    ...file,
    form: 0x12,
    size: 3,
    rest: [...home, 2, 46, 46],
  },
  'a symlink to nowhere at all': { ...file, form: 0x12, size: 0, rest: [...home, 0] },
  'an empty block': { ...file, flags: 17, rest: [...home, 0] },
  'zeros at the end of a block': { ...file, ...inline, rest: [...home, 3, 7, 8, 0] },
  '129 bytes inline': {
    ...file,
    flags: 17,
    allocated: 129,
    size: 129,
    rest: [...home, 0x81, 1, ...Array<number>(129).fill(1)],
  },
  'a blob of 128 bytes': { ...file, flags: 33, allocated: 128, size: 128, rest: blob(0x80, 1) },
  'a blob longer than a block': {
    ...file,
    flags: 33,
    allocated: 2 ** 19,
    size: 2 ** 19,
    rest: blob(0x81, 0x80, 0x10),
  },
  'a block longer than its file': { ...file, ...inline, size: 2, allocated: 2 },
  'more bytes in blocks than in the file': { ...file, ...inline, allocated: 4 },
  'fewer bytes in blocks than in its first': { ...file, ...inline, allocated: 2 },
  'more blocks than a short file has': { ...file, ...inline, allocated: 4, size: 100 },
  'a file above a pebibyte': { ...file, size: 2 ** 50 + 1 },
  'no attributes, said aloud': { ...file, flags: 3, rest: [...home, 0] },
  'attributes out of order': { ...file, flags: 3, rest: [...home, 2, 1, 98, 0, 1, 97, 0] },
  'an attribute twice': { ...file, flags: 3, rest: [...home, 2, 1, 97, 0, 1, 97, 0] },
  'an attribute without a name': { ...file, flags: 3, rest: [...home, 1, 0, 1, 9] },
  'a million attributes': { ...file, flags: 3, rest: [...home, 0xc0, 0x84, 0x3d, 1, 97, 0] },
  'format 0': { ...file, form: 0x00 },
}

describe('inode', () => {
  it.each(Object.entries(right))('%s: read, and written the same', (_, fields) => {
    expect(encodeInode(decodeInode(spell(fields)))).toEqual(spell(fields))
  })

  it.each(Object.entries(wrong))('%s: malformed', (_, fields) => {
    expect(() => decodeInode(spell(fields))).toThrow(expect.objectContaining({ code: 'malformed' }))
  })

  it.each([0x20, 0xf0, 0x17, 0x1f])('form %i: from a newer version', (form) => {
    expect(() => decodeInode(spell({ ...file, form }))).toThrow(
      expect.objectContaining({ code: 'unsupported_version' }),
    )
  })

  it('attributes are written in order, however they came', () => {
    const inode = decodeInode(spell({ ...file }))
    const a: [ByteString, Uint8Array] = ['user.a', Uint8Array.of(1)]
    const b: [ByteString, Uint8Array] = ['user.b', Uint8Array.of(2)]
    expect(encodeInode({ ...inode, xattrs: new Map([b, a]) })).toEqual(
      encodeInode({ ...inode, xattrs: new Map([a, b]) }),
    )
  })
})

const id = Array<number>(32).fill(7)

describe('directory entry, block and link', () => {
  it.each([
    ['inode 0', [0x10, 0]],
    ['a padded inode', [0x10, 0x81, 0]],
    ['format 0', [0x01, 5]],
    ['nothing', []],
  ])('an entry with %s: malformed', (_, bytes) => {
    expect(() => decodeDentry(Uint8Array.from(bytes))).toThrow(
      expect.objectContaining({ code: 'malformed' }),
    )
  })

  it.each([
    ['no bytes', [0x10, 0]],
    ['zeros at the end', [0x10, 2, 7, 0]],
    ['129 bytes inline', [0x10, 0x81, 1, ...Array<number>(129).fill(1)]],
    ['a blob of 128 bytes', [0x11, ...id, 0x80, 1]],
    ['a blob longer than a block', [0x11, ...id, 0x81, 0x80, 0x10]],
    ['half a hash', [0x11, ...id.slice(16)]],
    ['format 0', [0x00, 1, 7]],
  ])('a block with %s: malformed', (_, bytes) => {
    expect(() => decodeBlock(Uint8Array.from(bytes))).toThrow(
      expect.objectContaining({ code: 'malformed' }),
    )
  })

  it('kinds and types behind the last, and newer formats: from a newer version', () => {
    for (const bytes of [
      [0x17, 5],
      [0x20, 5],
    ])
      expect(() => decodeDentry(Uint8Array.from(bytes))).toThrow(
        expect.objectContaining({ code: 'unsupported_version' }),
      )
    for (const bytes of [
      [0x12, 1, 7],
      [0x20, 1, 7],
    ])
      expect(() => decodeBlock(Uint8Array.from(bytes))).toThrow(
        expect.objectContaining({ code: 'unsupported_version' }),
      )
  })

  it('a link with a value: malformed', () => {
    checkLink(new Uint8Array())
    expect(() => checkLink(Uint8Array.of(0))).toThrow(
      expect.objectContaining({ code: 'malformed' }),
    )
  })
})
