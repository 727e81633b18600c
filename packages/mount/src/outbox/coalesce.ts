import type { Op, SetattrOp, WriteOp } from '@cairn/core'

interface OpenWrite {
  readonly first: WriteOp
  last: WriteOp
  readonly pieces: Uint8Array[]
  length: number
}

/**
 * Joins writes that go on where the one before them ended: a program that writes a megabyte in
 * small pieces makes one operation. It also joins changes of one file's attributes right after each
 * other: an archiver sets times, owner and mode of each file in turn. A batch is taken whole or not
 * at all, so no reader sees a state in between. The same operations always give the same result:
 * after a crash a batch is sent again under its number, and must be the same batch. `take` gives
 * memory for joined bytes.
 */
export function coalesce(ops: readonly Op[], take: (length: number) => Uint8Array): readonly Op[] {
  const joined: (Op | OpenWrite)[] = []
  const open = new Map<number, OpenWrite>()
  for (const op of ops) {
    const previous = joined.at(-1)
    if (op.type === 'setattr' && previous && canJoin(previous, op)) {
      joined[joined.length - 1] = setBoth(previous, op)
      continue
    }
    if (op.type !== 'write' || op.data.type !== 'bytes') {
      for (const ino of inosOf(op)) open.delete(ino)
      joined.push(op)
      continue
    }
    const { bytes } = op.data
    const before = open.get(op.ino)
    if (before && goesOn(before, op)) {
      before.pieces.push(bytes)
      before.length += bytes.length
      before.last = op
      continue
    }
    const write = { first: op, last: op, pieces: [bytes], length: bytes.length }
    open.set(op.ino, write)
    joined.push(write)
  }
  return joined.map((item) => ('pieces' in item ? join(item, take) : item))
}

/** A change of the size changes more than what it names. */
function canJoin(previous: Op | OpenWrite, next: SetattrOp): previous is SetattrOp {
  if ('pieces' in previous || previous.type !== 'setattr' || previous.ino !== next.ino) return false
  return previous.size === undefined && next.size === undefined
}

function setBoth(first: SetattrOp, next: SetattrOp): SetattrOp {
  const { type, time, ino } = next
  const mode = next.mode ?? first.mode
  const uid = next.uid ?? first.uid
  const gid = next.gid ?? first.gid
  const atime = next.atime ?? first.atime
  const mtime = next.mtime ?? first.mtime
  return { type, time, ino, mode, uid, gid, size: undefined, atime, mtime }
}

function goesOn({ first, length }: OpenWrite, next: WriteOp): boolean {
  return next.offset === first.offset + length && next.dropPrivileges === first.dropPrivileges
}

function join(
  { first, last, pieces, length }: OpenWrite,
  take: (length: number) => Uint8Array,
): Op {
  if (pieces.length === 1) return first
  const bytes = take(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  const { type, ino, offset, dropPrivileges } = first
  return { type, time: last.time, ino, offset, data: { type: 'bytes', bytes }, dropPrivileges }
}

/** Whose content or attributes an operation looks at or changes, beside writes. */
function inosOf(op: Op): readonly number[] {
  if (op.type === 'copy') return [op.from, op.ino]
  return 'ino' in op ? [op.ino] : []
}
