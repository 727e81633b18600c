import {
  type Hash,
  hashBytes,
  type Ino,
  type Name,
  nameBytesMax,
  type Reader,
  type Writer,
} from '@cairn/protocol'
import { kinds, type Time } from '../filesystem/inode.ts'
import {
  type Data,
  fallocateModes,
  type Op,
  renameModes,
  type SetattrOp,
  standings,
  xattrModes,
} from '../filesystem/op.ts'

/** The wire numbers of operations. Only ever append: old logs must stay readable. */
const opTypes = [
  'create',
  'link',
  'unlink',
  'rmdir',
  'rename',
  'setattr',
  'write',
  'fallocate',
  'copy',
  'setxattr',
  'removexattr',
  'reap',
] as const satisfies readonly Op['type'][]

const setattrFields = ['mode', 'uid', 'gid', 'size'] as const
const setattrTimes = ['atime', 'mtime'] as const

/** Times are written against the batch's own, which makes most of them five bytes. */
export function writeOp(writer: Writer, op: Op, batchTime: Time): void {
  writer.u8(opTypes.indexOf(op.type))
  if (op.type === 'reap') {
    writer.varint(op.ino)
    return
  }
  writeTimeNear(writer, op.time, batchTime)
  switch (op.type) {
    case 'create':
      writer.varint(op.parent).byteString(op.name).varint(op.ino).u8(kinds.indexOf(op.kind))
      writer.varint(op.mode).varint(op.uid).varint(op.gid)
      if (op.kind === 'character' || op.kind === 'block') writer.varint(op.rdev)
      if (op.kind === 'symlink') writer.bytes(op.target ?? new Uint8Array())
      return
    case 'link':
      writer.varint(op.ino).varint(op.parent).byteString(op.name)
      return
    case 'unlink':
    case 'rmdir':
      writer.varint(op.parent).byteString(op.name)
      return
    case 'rename':
      writer.varint(op.parent).byteString(op.name).varint(op.newParent).byteString(op.newName)
      writer.u8(renameModes.indexOf(op.mode))
      return
    case 'setattr':
      return writeSetattr(writer, op, batchTime)
    case 'write':
      writer.varint(op.ino).varint(op.offset).u8(standings.indexOf(op.standing))
      return writeData(writer, op.data)
    case 'fallocate':
      writer.varint(op.ino).varint(op.offset).varint(op.length)
      writer.u8(fallocateModes.indexOf(op.mode)).u8(standings.indexOf(op.standing))
      return
    case 'copy':
      writer.varint(op.from).varint(op.fromOffset).varint(op.ino).varint(op.offset)
      writer.varint(op.length).u8(standings.indexOf(op.standing))
      return
    case 'setxattr':
      writer.varint(op.ino).byteString(op.name).bytes(op.value).u8(xattrModes.indexOf(op.mode))
      return
    case 'removexattr':
      writer.varint(op.ino).byteString(op.name)
      return
  }
}

export function readOp(reader: Reader, batchTime: Time): Op {
  const type = pick(reader, opTypes, 'operation')
  if (type === 'reap') return { type, ino: readIno(reader) }
  const time = readTimeNear(reader, batchTime)
  switch (type) {
    case 'create':
      return readCreate(reader, time)
    case 'link':
      return { type, time, ino: readIno(reader), parent: readIno(reader), name: readName(reader) }
    case 'unlink':
    case 'rmdir':
      return { type, time, parent: readIno(reader), name: readName(reader) }
    case 'rename':
      return {
        type,
        time,
        parent: readIno(reader),
        name: readName(reader),
        newParent: readIno(reader),
        newName: readName(reader),
        mode: pick(reader, renameModes, 'rename mode'),
      }
    case 'setattr':
      return readSetattr(reader, time, batchTime)
    case 'write': {
      const ino = readIno(reader)
      const offset = reader.varint()
      const standing = pick(reader, standings, 'standing')
      return { type, time, ino, offset, data: readData(reader), standing }
    }
    case 'fallocate':
      return {
        type,
        time,
        ino: readIno(reader),
        offset: reader.varint(),
        length: reader.varint(),
        mode: pick(reader, fallocateModes, 'fallocate mode'),
        standing: pick(reader, standings, 'standing'),
      }
    case 'copy':
      return {
        type,
        time,
        from: readIno(reader),
        fromOffset: reader.varint(),
        ino: readIno(reader),
        offset: reader.varint(),
        length: reader.varint(),
        standing: pick(reader, standings, 'standing'),
      }
    case 'setxattr':
      return {
        type,
        time,
        ino: readIno(reader),
        name: reader.byteString(),
        value: reader.bytes(),
        mode: pick(reader, xattrModes, 'xattr mode'),
      }
    case 'removexattr':
      return { type, time, ino: readIno(reader), name: reader.byteString() }
  }
}

function readCreate(reader: Reader, time: Time): Op {
  const parent = readIno(reader)
  const name = readName(reader)
  const ino = readIno(reader)
  const kind = pick(reader, kinds, 'kind')
  const mode = reader.varint()
  const uid = reader.varint()
  const gid = reader.varint()
  const rdev = kind === 'character' || kind === 'block' ? reader.varint() : 0
  const target = kind === 'symlink' ? reader.bytes() : undefined
  return { type: 'create', time, parent, name, ino, kind, mode, uid, gid, rdev, target }
}

function writeSetattr(writer: Writer, op: SetattrOp, batchTime: Time): void {
  let present = 0
  setattrFields.forEach((field, bit) => (present |= op[field] === undefined ? 0 : 1 << bit))
  setattrTimes.forEach((field, bit) => (present |= op[field] === undefined ? 0 : 16 << bit))
  writer.varint(op.ino).u8(present)
  for (const field of setattrFields) if (op[field] !== undefined) writer.varint(op[field])
  for (const field of setattrTimes) if (op[field]) writeTimeNear(writer, op[field], batchTime)
}

function readSetattr(reader: Reader, time: Time, batchTime: Time): SetattrOp {
  const ino = readIno(reader)
  const present = reader.u8()
  if (present > 63) throw reader.malformed('unknown attributes')
  const fields: Partial<Record<(typeof setattrFields)[number], number>> = {}
  const times: Partial<Record<(typeof setattrTimes)[number], Time>> = {}
  setattrFields.forEach((field, bit) => present & (1 << bit) && (fields[field] = reader.varint()))
  setattrTimes.forEach(
    (field, bit) => present & (16 << bit) && (times[field] = readTimeNear(reader, batchTime)),
  )
  return { type: 'setattr', time, ino, ...fields, ...times }
}

function writeData(writer: Writer, data: Data): void {
  if (data.type === 'bytes') writer.u8(0).bytes(data.bytes)
  else {
    writer.u8(1).rawByteString(data.id)
    writer.varint(data.blobLength).varint(data.start).varint(data.length)
  }
}

function readData(reader: Reader): Data {
  if (!readFlag(reader)) return { type: 'bytes', bytes: reader.bytes() }
  const id = reader.rawByteString(hashBytes) as Hash
  const data = {
    type: 'blob',
    id,
    blobLength: reader.varint(),
    start: reader.varint(),
    length: reader.varint(),
  } as const
  if (data.start + data.length > data.blobLength) throw reader.malformed('a range outside its blob')
  return data
}

function writeTimeNear(writer: Writer, time: Time, near: Time): void {
  writer.signed(time.sec - near.sec).u32(time.nsec)
}

function readTimeNear(reader: Reader, near: Time): Time {
  const sec = near.sec + reader.signed()
  const nsec = reader.u32()
  if (nsec > 999_999_999) throw reader.malformed('a time beyond its second')
  return { sec, nsec }
}

function readIno(reader: Reader): Ino {
  return reader.varint() as Ino
}

/** Only the length is checked here; the rules refuse what is no name. */
function readName(reader: Reader): Name {
  const name = reader.byteString()
  if (name.length > nameBytesMax) throw reader.malformed('a name above 255 bytes')
  return name as Name
}

function readFlag(reader: Reader): boolean {
  const value = reader.u8()
  if (value > 1) throw reader.malformed(`flag ${value}`)
  return value === 1
}

function pick<T>(reader: Reader, choices: readonly T[], what: string): T {
  const number = reader.u8()
  const choice = choices[number]
  if (choice === undefined) throw reader.malformed(`unknown ${what} ${number}`)
  return choice
}
