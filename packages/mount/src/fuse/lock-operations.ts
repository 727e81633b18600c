import type { Answer, Lock } from './file-system.ts'
import { errno, RawErrno } from './errno.ts'
import type { AnyOperation, OperationContext, Operation } from './operation.ts'
import { opcode } from './opcodes.ts'
import { putU64 } from './encode.ts'
import type { Request } from './request.ts'

/** By the kernel's number. */
const types = ['read', 'write', 'none'] as const
const isFlock = 1
const toTheEnd = Number.MAX_SAFE_INTEGER
const never = new AbortController().signal

/** A close ends all locks of its owner; of POSIX locks the kernel tells by FLUSH, of an flock by RELEASE. */
export function unlockAll(
  { fs, locks }: OperationContext,
  nodeid: number,
  owner: string,
  flock: boolean,
): Answer<void> {
  if (!locks) return
  const lock: Lock = { owner, start: 0, end: toTheEnd, type: 'none', pid: 0 }
  return fs.setlk?.(nodeid, lock, false, flock, never)
}

function readLock(request: Request): Lock {
  return {
    owner: request.hex64(48),
    start: request.u64(56),
    // Where a lock without end ends is 2^63 - 1.
    end: Math.min(request.u64(64), toTheEnd),
    type: types[request.u32(72)] ?? 'none',
    pid: request.u32(76),
  }
}

const getlk: Operation<Lock> = {
  name: 'GETLK',
  call({ fs }, request) {
    if (fs.getlk === undefined) throw new RawErrno(errno.ENOSYS)
    return fs.getlk(request.nodeid, readLock(request), request.caller)
  },
  write(reply, lock) {
    const at = reply.grow(24)
    putU64(reply.words, at, lock.start)
    if (lock.end < toTheEnd) {
      putU64(reply.words, at + 2, lock.end)
    } else {
      reply.words[at + 2] = 0xffff_ffff
      reply.words[at + 3] = 0x7fff_ffff
    }
    reply.words[at + 4] = types.indexOf(lock.type)
    reply.words[at + 5] = lock.pid
  },
}

/** The lock and its owner, in case the caller is gone by the time it is granted. */
interface Locked {
  readonly nodeid: number
  readonly lock: Lock
  readonly flock: boolean
}

function makeSetlk(name: string, wait: boolean): Operation<Locked> {
  return {
    name,
    call({ fs }, request) {
      if (fs.setlk === undefined) throw new RawErrno(errno.ENOSYS)
      request.abort = new AbortController()
      const locked: Locked = {
        nodeid: request.nodeid,
        lock: readLock(request),
        flock: (request.u32(80) & isFlock) !== 0,
      }
      const { nodeid, lock, flock } = locked
      const answer = fs.setlk(nodeid, lock, wait, flock, request.abort.signal)
      return answer instanceof Promise ? answer.then(() => locked) : locked
    },
    undo({ fs }, { nodeid, lock, flock }) {
      if (lock.type !== 'none')
        return fs.setlk?.(nodeid, { ...lock, type: 'none' }, false, flock, never)
    },
    ...(wait && { waits: 'without-limit', interruptible: true }),
  }
}

export const lockOperations: Readonly<Record<number, AnyOperation>> = {
  [opcode.getlk]: getlk,
  [opcode.setlk]: makeSetlk('SETLK', false),
  [opcode.setlkw]: makeSetlk('SETLKW', true),
}
