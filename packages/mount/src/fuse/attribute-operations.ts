import type { Time } from '@cairn/core'
import { type ByteString, FsError, fromByteString } from '@cairn/protocol'
import { errno } from './errno.ts'
import type { AttributeChange, FileSystemStatistics, AttributesAnswer } from './file-system.ts'
import { after, type AnyOperation, type Operation, type ChangedNode } from './operation.ts'
import { opcode } from './opcodes.ts'
import type { Reply } from './reply.ts'
import type { Request } from './request.ts'

/** Which fields of a SETATTR request count. */
const valid = {
  mode: 1 << 0,
  uid: 1 << 1,
  gid: 1 << 2,
  size: 1 << 3,
  atime: 1 << 4,
  mtime: 1 << 5,
  atimeNow: 1 << 7,
  mtimeNow: 1 << 8,
  killSuidgid: 1 << 11,
} as const

function readTime(request: Request, offset: number, nsecOffset: number): Time {
  return { sec: request.i64(offset), nsec: request.u32(nsecOffset) }
}

/** Every field in every one, as elsewhere on the way of a change: objects of one shape are several times as fast. */
function readChange(request: Request): AttributeChange {
  const bits = request.u32(40)
  const has = (bit: number): boolean => (bits & bit) !== 0
  return {
    mode: has(valid.mode) ? request.u32(108) & 0o7777 : undefined,
    uid: has(valid.uid) ? request.u32(116) : undefined,
    gid: has(valid.gid) ? request.u32(120) : undefined,
    size: has(valid.size) ? request.u64(56) : undefined,
    atime: has(valid.atime) ? (has(valid.atimeNow) ? 'now' : readTime(request, 72, 96)) : undefined,
    mtime: has(valid.mtime)
      ? has(valid.mtimeNow)
        ? 'now'
        : readTime(request, 80, 100)
      : undefined,
    killPrivileges: has(valid.killSuidgid),
  }
}

export function touchesNode(request: Request): readonly ChangedNode[] {
  return [{ nodeid: request.nodeid }]
}

function writeAttributes(reply: Reply, value: AttributesAnswer): void {
  reply.attributes(value)
}

const getattr: Operation<AttributesAnswer> = {
  name: 'GETATTR',
  call: ({ fs }, request) => fs.getattr(request.nodeid),
  write: writeAttributes,
}

const setattr: Operation<AttributesAnswer> = {
  name: 'SETATTR',
  call: ({ fs }, request) => fs.setattr(request.nodeid, readChange(request), request.caller),
  write: writeAttributes,
  touches: touchesNode,
}

const readlink: Operation<Uint8Array> = {
  name: 'READLINK',
  call: ({ fs }, request) => fs.readlink(request.nodeid),
  write: (reply, target) => reply.data(target),
}

const statfs: Operation<FileSystemStatistics> = {
  name: 'STATFS',
  call: ({ fs }, request) => fs.statfs(request.nodeid),
  write(reply, totals) {
    for (const count of [totals.blocks, totals.free, totals.free, totals.files, totals.filesFree])
      reply.u64(count)
    reply.u32(totals.blockSize)
    reply.u32(totals.nameMax)
    reply.u32(totals.blockSize)
    for (let spare = 0; spare < 7; spare++) reply.u32(0)
  },
}

/** The caller gives the room it has; with none it asks how much it needs. */
function fitXattr(value: Uint8Array, room: number): Uint8Array | number {
  if (room === 0) return value.length
  if (value.length > room) throw new FsError('ERANGE')
  return value
}

function writeXattr(reply: Reply, value: Uint8Array | number): void {
  if (typeof value === 'number') reply.u64(value)
  else reply.data(value)
}

const getxattr: Operation<Uint8Array | number | undefined> = {
  name: 'GETXATTR',
  call({ fs }, request) {
    const room = request.u32(40)
    const answer = fs.getxattr(request.nodeid, request.lastName(48), request.caller)
    return after(answer, (value) => value && fitXattr(value, room))
  },
  write: (reply, value) => (value === undefined ? errno.ENODATA : writeXattr(reply, value)),
}

function joinNames(names: readonly ByteString[]): Uint8Array {
  return fromByteString(names.map((name) => `${name}\0`).join(''))
}

const listxattr: Operation<Uint8Array | number> = {
  name: 'LISTXATTR',
  call({ fs }, request) {
    const room = request.u32(40)
    const answer = fs.listxattr(request.nodeid, request.caller)
    return after(answer, (names) => fitXattr(joinNames(names), room))
  },
  write: writeXattr,
}

const setxattr: Operation<void> = {
  name: 'SETXATTR',
  call({ fs }, request) {
    const end = request.endOfName(48)
    const value = request.view(end + 1, request.u32(40))
    return fs.setxattr(
      request.nodeid,
      request.name(48, end),
      value,
      request.u32(44),
      request.caller,
    )
  },
  touches: touchesNode,
}

const removexattr: Operation<void> = {
  name: 'REMOVEXATTR',
  call: ({ fs }, request) => fs.removexattr(request.nodeid, request.lastName(40), request.caller),
  touches: touchesNode,
}

export const attributeOperations: Readonly<Record<number, AnyOperation>> = {
  [opcode.getattr]: getattr,
  [opcode.setattr]: setattr,
  [opcode.readlink]: readlink,
  [opcode.statfs]: statfs,
  [opcode.getxattr]: getxattr,
  [opcode.listxattr]: listxattr,
  [opcode.setxattr]: setxattr,
  [opcode.removexattr]: removexattr,
}
