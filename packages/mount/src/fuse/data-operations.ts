import { touchesNode } from './attribute-operations.ts'
import { errno, RawErrno } from './errno.ts'
import { unlockAll } from './lock-operations.ts'
import { directIo, keepCache } from './name-operations.ts'
import { after, type AnyOperation, type Operation } from './operation.ts'
import { opcode, rootNodeid } from './opcodes.ts'

const writeKillsPrivileges = 4
const releaseEndsFlock = 2
const dataOnly = 1
const append = 0o2000

/** Gives the flags of the answer. */
const open: Operation<number> = {
  name: 'OPEN',
  call({ fs, locks, writesDirectly }, request) {
    const flags = request.u32(40)
    // Through its pages the kernel cuts an append at a page border, and another client's may come in between.
    const given = writesDirectly && (flags & append) !== 0 ? directIo | keepCache : keepCache
    if (fs.open !== undefined)
      return after(fs.open(request.nodeid, flags, request.caller), () => given)
    // An flock ends with its open file, and of that the kernel tells only if it asked for the opening.
    if (!locks) throw new RawErrno(errno.ENOSYS)
    return given
  },
  write(reply, flags) {
    reply.u64(0)
    reply.u32(flags)
    reply.u32(0)
  },
}

const read: Operation<Uint8Array | readonly Uint8Array[]> = {
  name: 'READ',
  call: ({ fs }, request) => fs.read(request.nodeid, request.u64(48), request.u32(56)),
  write(reply, data) {
    if (data instanceof Uint8Array) reply.data(data)
    else reply.dataParts(data)
  },
}

const write: Operation<number> = {
  name: 'WRITE',
  call: ({ fs }, request) =>
    fs.write(
      request.nodeid,
      request.u64(48),
      request.view(80, request.u32(56)),
      request.u32(72),
      (request.u32(60) & writeKillsPrivileges) !== 0,
      request.caller,
    ),
  write: (reply, written) => reply.u64(written),
  touches: touchesNode,
}

const flush: Operation<void> = {
  name: 'FLUSH',
  call(context, request) {
    const { fs } = context
    const { nodeid } = request
    if (!context.locks && fs.flush === undefined) throw new RawErrno(errno.ENOSYS)
    return after(unlockAll(context, nodeid, request.hex64(56), false), () => fs.flush?.(nodeid))
  },
  waits: 'without-limit',
}

const release: Operation<void> = {
  name: 'RELEASE',
  call(context, request) {
    const { nodeid } = request
    const endsFlock = (request.u32(52) & releaseEndsFlock) !== 0
    const unlocked = endsFlock ? unlockAll(context, nodeid, request.hex64(56), true) : undefined
    return after(unlocked, () => context.fs.release?.(nodeid))
  },
  waits: 'without-limit',
}

const fsync: Operation<void> = {
  name: 'FSYNC',
  call: ({ fs }, request) => fs.fsync(request.nodeid, (request.u32(48) & dataOnly) !== 0),
  waits: 'without-limit',
}

const fsyncdir: Operation<void> = {
  name: 'FSYNCDIR',
  call: ({ fs }, request) => fs.fsyncdir(request.nodeid),
  waits: 'without-limit',
}

const syncfs: Operation<void> = {
  name: 'SYNCFS',
  call: ({ fs }) => fs.fsync(rootNodeid, false),
  waits: 'without-limit',
}

const fallocate: Operation<void> = {
  name: 'FALLOCATE',
  call: ({ fs }, request) =>
    fs.fallocate(request.nodeid, request.u64(48), request.u64(56), request.u32(64), request.caller),
  touches: touchesNode,
}

/** The older request has 32 bits for the answer, the newer one 64. */
function makeCopyFileRange(name: string, lengthMax: number): Operation<number> {
  return {
    name,
    call: ({ fs }, request) =>
      fs.copyFileRange(
        request.nodeid,
        request.u64(48),
        request.u64(56),
        request.u64(72),
        Math.min(request.u64(80), lengthMax),
        request.caller,
      ),
    write: (reply, copied) => reply.u64(copied),
    touches: (request) => [{ nodeid: request.u64(56) }],
  }
}

const lseek: Operation<number> = {
  name: 'LSEEK',
  call: ({ fs }, request) => fs.lseek(request.nodeid, request.i64(48), request.u32(56)),
  write: (reply, offset) => reply.u64(offset),
}

export const dataOperations: Readonly<Record<number, AnyOperation>> = {
  [opcode.open]: open,
  [opcode.read]: read,
  [opcode.write]: write,
  [opcode.flush]: flush,
  [opcode.release]: release,
  [opcode.fsync]: fsync,
  [opcode.fsyncdir]: fsyncdir,
  [opcode.syncfs]: syncfs,
  [opcode.fallocate]: fallocate,
  [opcode.lseek]: lseek,
  // Whole pages: the kernel rounds likewise.
  [opcode.copyFileRange]: makeCopyFileRange('COPY_FILE_RANGE', 0xffff_f000),
  [opcode.copyFileRange64]: makeCopyFileRange('COPY_FILE_RANGE_64', Number.MAX_SAFE_INTEGER),
}
