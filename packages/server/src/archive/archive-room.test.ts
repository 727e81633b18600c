import type { Name } from '@cairn/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ArchiveRoom } from './archive-room.ts'

const names = Array.from({ length: 16 }, () => 'n'.repeat(250) as Name)
const entry = { names, pieces: [], kind: 'file', mode: 0o644, size: 0, mtimeNs: 0n } as const
const rooms: ArchiveRoom[] = []

function fill(count: number): ArchiveRoom {
  const room = new ArchiveRoom()
  rooms.push(room)
  for (let at = 0; at < count; at++) room.take(entry)
  return room
}

describe('the entries of archives that arrive', () => {
  afterEach(() => {
    for (const room of rooms.splice(0)) room.end()
  })

  it('one archive of 400 MiB of names: refused', () => {
    expect(() => fill(110_000)).toThrow(expect.objectContaining({ code: 'too_large' }))
  })

  it('several archives of 1 GiB of names: the last one has to wait for another', () => {
    const [first] = [fill(80_000), fill(80_000)]
    expect(() => fill(80_000)).toThrow(expect.objectContaining({ code: 'too_many_requests' }))
    rooms.at(-1)!.end()
    first.end()
    expect(() => fill(80_000)).not.toThrow()
  })
})
