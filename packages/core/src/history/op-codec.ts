import {
  fileKinds,
  type Hash,
  hashBytes,
  type Name,
  nameBytesMax,
  type Reader,
  type Writer,
} from '@cairn/protocol'
import { readIno, readTimeNear, u32Max, writeTimeNear } from '../filesystem/field-codecs.ts'
import { isDevice } from '../filesystem/inode.ts'
import type { Time } from '../ports/records.ts'
import {
  type CreateOp,
  type Data,
  fallocateModes,
  type Op,
  privilegeDrops,
  renameModes,
  type SetattrOp,
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
  'append',
] as const satisfies readonly Op['type'][]

const setattrFields = ['mode', 'uid', 'gid', 'size'] as const
const setattrMax = { mode: u32Max, uid: u32Max, gid: u32Max, size: Number.MAX_SAFE_INTEGER }
const setattrTimes = ['atime', 'mtime'] as const
const dataTypes = ['bytes', 'blob'] as const satisfies readonly Data['type'][]

/** Times are written against the batch's own, which makes most of them five bytes. */
export function writeOp(writer: Writer, op: Op, batchTime: Time): void {
  writer.choice(opTypes, op.type)
  if (op.type === 'reap') {
    writer.positive(op.ino)
    return
  }
  writeTimeNear(writer, op.time, batchTime)
  switch (op.type) {
    case 'create':
      return writeCreate(writer, op)
    case 'link':
      writer.positive(op.ino).positive(op.parent).byteString(op.name)
      return
    case 'unlink':
    case 'rmdir':
      writer.positive(op.parent).byteString(op.name)
      return
    case 'rename':
      writer.positive(op.parent).byteString(op.name).positive(op.newParent).byteString(op.newName)
      writer.choice(renameModes, op.mode)
      return
    case 'setattr':
      return writeSetattr(writer, op, batchTime)
    case 'write':
      writer.positive(op.ino).varint(op.offset).choice(privilegeDrops, op.dropPrivileges)
      return writeData(writer, op.data)
    case 'append':
      writer.positive(op.ino).choice(privilegeDrops, op.dropPrivileges)
      return writeData(writer, op.data)
    case 'fallocate':
      writer.positive(op.ino).varint(op.offset).varint(op.length)
      writer.choice(fallocateModes, op.mode).choice(privilegeDrops, op.dropPrivileges)
      return
    case 'copy':
      writer.positive(op.from).varint(op.fromOffset).positive(op.ino).varint(op.offset)
      writer.varint(op.length).choice(privilegeDrops, op.dropPrivileges)
      return
    case 'setxattr':
      writer.positive(op.ino).byteString(op.name).bytes(op.value).choice(xattrModes, op.mode)
      return
    case 'removexattr':
      writer.positive(op.ino).byteString(op.name)
      return
  }
}

export function readOp(reader: Reader, batchTime: Time): Op {
  const type = reader.choice(opTypes, 'operation')
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
        mode: reader.choice(renameModes, 'rename mode'),
      }
    case 'setattr':
      return readSetattr(reader, time, batchTime)
    case 'write': {
      const ino = readIno(reader)
      const offset = reader.varint()
      const dropPrivileges = reader.choice(privilegeDrops, 'privilege drop')
      return { type, time, ino, offset, data: readData(reader), dropPrivileges }
    }
    case 'append': {
      const ino = readIno(reader)
      const dropPrivileges = reader.choice(privilegeDrops, 'privilege drop')
      return { type, time, ino, data: readData(reader), dropPrivileges }
    }
    case 'fallocate':
      return {
        type,
        time,
        ino: readIno(reader),
        offset: reader.varint(),
        length: reader.varint(),
        mode: reader.choice(fallocateModes, 'fallocate mode'),
        dropPrivileges: reader.choice(privilegeDrops, 'privilege drop'),
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
        dropPrivileges: reader.choice(privilegeDrops, 'privilege drop'),
      }
    case 'setxattr':
      return {
        type,
        time,
        ino: readIno(reader),
        name: reader.byteString(),
        value: reader.bytes(),
        mode: reader.choice(xattrModes, 'xattr mode'),
      }
    case 'removexattr':
      return { type, time, ino: readIno(reader), name: reader.byteString() }
  }
}

function writeCreate(writer: Writer, op: CreateOp): void {
  writer.positive(op.parent).byteString(op.name).positive(op.ino).choice(fileKinds, op.kind)
  writer.varint(op.mode).varint(op.uid, u32Max).varint(op.gid, u32Max)
  if (isDevice(op.kind)) writer.varint(op.rdev, u32Max)
  if (op.kind === 'symlink') writer.bytes(op.target ?? new Uint8Array())
}

function readCreate(reader: Reader, time: Time): CreateOp {
  const parent = readIno(reader)
  const name = readName(reader)
  const ino = readIno(reader)
  const kind = reader.choice(fileKinds, 'kind')
  const mode = reader.varint()
  const uid = reader.varint(u32Max)
  const gid = reader.varint(u32Max)
  const rdev = isDevice(kind) ? reader.varint(u32Max) : 0
  const target = kind === 'symlink' ? reader.bytes() : undefined
  return { type: 'create', time, parent, name, ino, kind, mode, uid, gid, rdev, target }
}

function writeSetattr(writer: Writer, op: SetattrOp, batchTime: Time): void {
  let present = 0
  setattrFields.forEach((field, bit) => (present |= op[field] === undefined ? 0 : 1 << bit))
  setattrTimes.forEach((field, bit) => (present |= op[field] === undefined ? 0 : 16 << bit))
  writer.positive(op.ino).u8(present)
  for (const field of setattrFields)
    if (op[field] !== undefined) writer.varint(op[field], setattrMax[field])
  for (const field of setattrTimes) if (op[field]) writeTimeNear(writer, op[field], batchTime)
}

function readSetattr(reader: Reader, time: Time, batchTime: Time): SetattrOp {
  const ino = readIno(reader)
  const present = reader.u8()
  if (present > 63) throw reader.unsupported(`attributes ${present}`)
  const fields: Partial<Record<(typeof setattrFields)[number], number>> = {}
  const times: Partial<Record<(typeof setattrTimes)[number], Time>> = {}
  setattrFields.forEach(
    (field, bit) => present & (1 << bit) && (fields[field] = reader.varint(setattrMax[field])),
  )
  setattrTimes.forEach(
    (field, bit) => present & (16 << bit) && (times[field] = readTimeNear(reader, batchTime)),
  )
  return { type: 'setattr', time, ino, ...fields, ...times }
}

function writeData(writer: Writer, data: Data): void {
  writer.choice(dataTypes, data.type)
  if (data.type === 'bytes') writer.bytes(data.bytes)
  else
    writer
      .rawByteString(data.id)
      .varint(data.blobLength)
      .varint(data.start, data.blobLength)
      .varint(data.length, data.blobLength - data.start)
}

function readData(reader: Reader): Data {
  const type = reader.choice(dataTypes, 'data')
  if (type === 'bytes') return { type, bytes: reader.bytes() }
  const id = reader.rawByteString(hashBytes) as Hash
  const blobLength = reader.varint()
  const start = reader.varint(blobLength)
  return { type, id, blobLength, start, length: reader.varint(blobLength - start) }
}

/** Only the length is checked here; the rules refuse what is no name. */
function readName(reader: Reader): Name {
  const name = reader.byteString()
  if (name.length > nameBytesMax) throw reader.malformed('a name above 255 bytes')
  return name as Name
}
