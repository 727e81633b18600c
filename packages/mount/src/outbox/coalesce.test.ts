import type { Op } from '@cairn/core'
import { type Ino, parseName } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coalesce } from './coalesce.ts'

const time = { sec: 1, nsec: 0 }

function write(ino: number, offset: number, text: string): Op {
  const data = { type: 'bytes' as const, bytes: Buffer.from(text) }
  return { type: 'write', time, ino: ino as Ino, offset, data, dropPrivileges: false }
}

const take = (length: number): Uint8Array => Buffer.alloc(length)

function truncate(ino: number, size: number): Op {
  return { type: 'setattr', time, ino: ino as Ino, size }
}

/** What the files hold afterwards. */
function play(ops: readonly Op[]): Map<number, string> {
  const files = new Map<number, string>()
  for (const op of ops) {
    if (op.type === 'write' && op.data.type === 'bytes') {
      const before = (files.get(op.ino) ?? '').padEnd(op.offset, '0')
      const text = Buffer.from(op.data.bytes).toString()
      files.set(op.ino, before.slice(0, op.offset) + text + before.slice(op.offset + text.length))
    }
    if (op.type === 'setattr' && op.size !== undefined)
      files.set(op.ino, (files.get(op.ino) ?? '').slice(0, op.size).padEnd(op.size, '0'))
    if (op.type === 'copy') {
      const piece = (files.get(op.from) ?? '').slice(op.fromOffset, op.fromOffset + op.length)
      const before = (files.get(op.ino) ?? '').padEnd(op.offset, '0')
      files.set(op.ino, before.slice(0, op.offset) + piece + before.slice(op.offset + piece.length))
    }
  }
  return files
}

describe('joining', () => {
  it('attributes of one file set in a row become one operation, the last of each', () => {
    const ino = 2 as Ino
    const later = { sec: 2, nsec: 0 }
    const ops: Op[] = [
      { type: 'setattr', time, ino, mtime: { sec: 9, nsec: 9 }, mode: 0o600 },
      { type: 'setattr', time, ino, uid: 5, gid: 6 },
      { type: 'setattr', time: later, ino, mode: 0o755 },
    ]
    const joined = { mtime: { sec: 9, nsec: 9 }, uid: 5, gid: 6, mode: 0o755 }
    expect(coalesce(ops, take)).toEqual([{ type: 'setattr', time: later, ino, ...joined }])
  })

  it('a size, another file or a name between keeps attributes apart', () => {
    const chmod = (ino: number): Op => ({ type: 'setattr', time, ino: ino as Ino, mode: 0o600 })
    const unlink: Op = { type: 'unlink', time, parent: 1 as Ino, name: parseName('n') }
    const ops = [chmod(2), truncate(2, 1), chmod(2), chmod(3), chmod(2), unlink, chmod(2)]
    expect(coalesce(ops, take)).toEqual(ops)
  })

  it('pieces in order become one operation', () => {
    const ops = [write(2, 0, 'ab'), write(3, 0, 'x'), write(2, 2, 'cd'), write(2, 4, 'ef')]
    expect(coalesce(ops, take)).toEqual([write(2, 0, 'abcdef'), write(3, 0, 'x')])
  })

  it('files hold the same, whatever comes between', () => {
    const ino = fc.integer({ min: 2, max: 4 })
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .tuple(ino, fc.nat(8), fc.constantFrom('a', 'bc', 'def'))
          .map((args) => write(...args)),
      },
      { weight: 1, arbitrary: fc.tuple(ino, fc.nat(8)).map((args) => truncate(...args)) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(ino, ino, fc.nat(4), fc.nat(8))
          .map(([from, to, fromOffset, offset]): Op => ({
            type: 'copy',
            time,
            from: from as Ino,
            fromOffset,
            ino: to as Ino,
            offset,
            length: 3,
            dropPrivileges: false,
          })),
      },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (ops) => {
        expect(play(coalesce(ops, take))).toEqual(play(ops))
      }),
      { seed: 1, numRuns: 1000 },
    )
  })
})
