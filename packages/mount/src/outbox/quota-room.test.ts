import type { Op } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { growthMax, QuotaRoom } from './quota-room.ts'

const unlimited = Number.MAX_SAFE_INTEGER

function write(offset: number, length: number): Op {
  const data = { type: 'bytes', bytes: new Uint8Array(length) } as const
  const time = { sec: 0, nsec: 0 }
  return { type: 'write', time, ino: 2 as Ino, offset, data, dropPrivileges: false }
}

describe('the room of a quota', () => {
  it('the room of a quota is without end until the server tells of one', () => {
    const room = new QuotaRoom()
    room.take(1, { bytes: 1e15, files: 1e9 })
    expect(room.has({ bytes: 1e15, files: 1e9 })).toBe(true)
    expect(room.statistics).toMatchObject({ blocks: 2 ** 32, free: 2 ** 32 })
  })

  it('shrinks by what is acknowledged, also when it is in the log and not counted yet', () => {
    const room = new QuotaRoom()
    room.hear({ bytes: 100, files: 2, maxBytes: 1000, maxFiles: 10 })
    room.take(1, { bytes: 60, files: 1 })
    room.take(1, { bytes: 30, files: 0 })
    expect(room.has({ bytes: 10, files: 1 })).toBe(true)
    expect(room.has({ bytes: 11, files: 0 })).toBe(false)
    room.settle(1)
    expect(room.has({ bytes: 11, files: 0 })).toBe(false)
    room.hear({ bytes: 50, files: 1, maxBytes: 1000, maxFiles: 10 })
    expect(room.has({ bytes: 50, files: 1 })).toBe(true)
  })

  it('what was heard does not count what is still on its way', () => {
    const room = new QuotaRoom()
    room.take(1, { bytes: 60, files: 0 })
    room.take(2, { bytes: 30, files: 0 })
    room.settle(1)
    room.hear({ bytes: 40, files: unlimited, maxBytes: 100, maxFiles: unlimited })
    expect(room.has({ bytes: 10, files: 0 })).toBe(true)
    expect(room.has({ bytes: 11, files: 0 })).toBe(false)
  })

  it('what takes none is done where there is none', () => {
    const room = new QuotaRoom()
    room.hear({ bytes: 0, files: 0, maxBytes: 8192, maxFiles: 5 })
    expect(room.has({ bytes: 0, files: 0 })).toBe(true)
    expect(room.statistics).toMatchObject({ blocks: 2, free: 0, files: 5, filesFree: 0 })
  })

  it('a write may take its block from the start', () => {
    expect(growthMax(write(256 * 1024 + 10, 5))).toEqual({ bytes: 15, files: 0 })
  })
})
