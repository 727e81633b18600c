import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadFuseIo } from '../fuse/native.ts'
import { type SegmentPlace, Segments } from './segments.ts'

const io = await loadFuseIo()

const MiB = 1 << 20

function bytesIn(directory: string): number {
  return readdirSync(directory)
    .map((name) => statSync(join(directory, name)).size)
    .reduce((sum, size) => sum + size, 0)
}

function filesOpenIn(directory: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory)
    } catch {
      // The one that listed them.
      return false
    }
  }).length
}

describe('segments', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-segments-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  function bytesOf(segments: Segments, place: { segment: number; position: number }): string {
    const target = Buffer.alloc(4)
    segments.read(place, target)
    return target.toString()
  }

  it('give back what was appended, piece after piece', () => {
    const segments = new Segments({ directory, bytesMax: 100 * MiB, io })
    const first = segments.append([Buffer.from('ab'), Buffer.from('cd')])
    const second = segments.append([Buffer.from('efgh')])
    expect([bytesOf(segments, first), bytesOf(segments, second)]).toEqual(['abcd', 'efgh'])
    segments.removeAll()
  })

  it('keep what was appended when the memory of an older one becomes the newest', () => {
    const segments = new Segments({ directory, bytesMax: 1000 * MiB, io })
    const places = Array.from({ length: 200 }, (_, i) => {
      const place = segments.append([Buffer.from(String(i).padStart(4)), Buffer.alloc(MiB - 4)])
      segments.pinFrom(place.segment)
      return place
    })
    const all = places.map((place) => Number(bytesOf(segments, place)))
    expect(all).toEqual(places.map((_, i) => i))
    segments.removeAll()
  })

  it('keep few files open, however many there are and whichever are read', async () => {
    const segments = new Segments({ directory, bytesMax: 1000 * MiB, io })
    const places = Array.from({ length: 12 }, (_, i) => {
      const place = segments.append([
        Buffer.from(String(i).padStart(4)),
        Buffer.alloc(32 * MiB - 4),
      ])
      segments.pinFrom(place.segment + 1)
      return place
    })
    const here = places.filter(({ segment }) => segments.has(segment))
    expect(here.length).toBeGreaterThan(10)
    for (const round of [1, 2])
      for (const place of here)
        expect(Number(bytesOf(segments, place)), `round ${round}`).toBe(places.indexOf(place))
    // Eight that are read, the one that is written to, and the one that is prepared.
    expect(filesOpenIn(directory)).toBeLessThanOrEqual(10)
    segments.removeAll()
    await expect.poll(() => filesOpenIn(directory)).toBe(0)
  })

  it('segments of the spool that were deleted by another program are not there, as if they had been let go', () => {
    const segments = new Segments({ directory, bytesMax: 1000 * MiB, io })
    const append = (): SegmentPlace => segments.append([Buffer.alloc(MiB)])
    const [first, second] = [append(), append()]
    segments.pinFrom(second.segment + 1)
    const before = segments.bytes
    rmSync(join(directory, `segment-${first.segment}`))
    expect([first, second].map(({ segment }) => segments.has(segment))).toEqual([false, true])
    expect(segments.bytes).toBe(before - MiB)
    segments.removeAll()
  })

  it.skipIf(process.getuid?.() !== 0)(
    'leave the last room of a disk to the write that needs it now (needs root)',
    async () => {
      const disk = mkdtempSync(join(tmpdir(), 'cairn-disk-'))
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
      onTestFinished(() => {
        execFileSync('umount', ['-l', disk])
        rmSync(disk, { recursive: true })
      })
      const prepared: number[] = []
      const mapFileLater: typeof io.mapFileLater = (fd, size, spare) => {
        prepared.push(size)
        return io.mapFileLater(fd, size, spare)
      }
      const segments = new Segments({
        directory: disk,
        bytesMax: 100 * MiB,
        io: { ...io, mapFileLater },
      })
      segments.pinFrom(1)
      const block = Buffer.alloc(MiB / 4)
      for (let i = 0; i < 16; i++) {
        segments.append([block])
        // Until the one that is being prepared is there.
        await new Promise((resolve) => setImmediate(resolve))
      }
      // The first of one mebibyte calls for one of two; half of that is left when the next would be of four.
      expect(prepared).toEqual([2 * MiB])
      segments.removeAll()
    },
  )

  it('drop the oldest when the cache is full, and never a pinned one', async () => {
    const segments = new Segments({ directory, bytesMax: 40 * MiB, io })
    const block = Buffer.alloc(MiB, 'x')
    const places = Array.from({ length: 12 }, () => segments.append([block]))
    const pinned = places.at(-1)!.segment
    segments.pinFrom(pinned)
    for (let i = 0; i < 100; i++) segments.append([block])
    expect(segments.has(places[0]!.segment)).toBe(false)
    expect(segments.has(pinned)).toBe(true)
    segments.pinFrom(Infinity)
    for (let i = 0; i < 40; i++) segments.append([block])
    expect(segments.has(pinned)).toBe(false)
    await vi.waitFor(() => expect(bytesIn(directory)).toBe(segments.bytes))
    segments.removeAll()
  })

  it('never take more of the disk than they may, the next one included', async () => {
    const segments = new Segments({ directory, bytesMax: 64 * MiB, io })
    const block = Buffer.alloc(MiB, 'x')
    let most = 0
    for (let i = 0; i < 300; i++) {
      segments.append([block])
      // Lets the next one be made.
      await new Promise((resolve) => setImmediate(resolve))
      most = Math.max(most, bytesIn(directory))
    }
    expect(most).toBeLessThanOrEqual(64 * MiB)
    expect(most).toBeGreaterThan(32 * MiB)
    segments.removeAll()
    await vi.waitFor(() => expect(readdirSync(directory)).toEqual([]))
  })

  it('show what was appended last as it lies there, also when the next one is begun', () => {
    const segments = new Segments({ directory, bytesMax: 100 * MiB, io })
    segments.pinFrom(1)
    segments.append([Buffer.from('ab'), Buffer.from('cdef')])
    const tail = segments.tail(4)
    const large = Buffer.alloc(MiB, 'x')
    segments.append([large])
    const second = segments.tail(MiB)
    segments.append([large])
    expect(Buffer.from(tail).toString()).toBe('cdef')
    expect(large.equals(second)).toBe(true)
    segments.removeAll()
  })

  it('use the room of a nearly full disk, and fail with ENOSPC if that is too little', () => {
    let room = 100_000
    const mapFile: typeof io.mapFile = (fd, size, left) =>
      size > room ? -28 : io.mapFile(fd, size, left)
    const segments = new Segments({ directory, bytesMax: 100 * MiB, io: { ...io, mapFile } })
    segments.pinFrom(1)
    const place = segments.append([Buffer.from('kept')])
    room = 0
    expect(() => segments.append([Buffer.alloc(100_000)])).toThrow('ENOSPC')
    expect(bytesOf(segments, place)).toBe('kept')
    expect(readdirSync(directory)).toHaveLength(1)
    expect(bytesOf(segments, segments.append([Buffer.from('more')]))).toBe('more')
    segments.removeAll()
  })

  it('let even the newest go on a full disk, if the server has it', async () => {
    let calls = 1
    const mapFile: typeof io.mapFile = (fd, size, left) =>
      calls-- > 0 ? io.mapFile(fd, size, left) : -28
    const full = { ...io, mapFile, mapFileLater: async () => -28 }
    const segments = new Segments({ directory, bytesMax: 100 * MiB, io: full })
    const place = segments.append([Buffer.alloc(MiB)])
    expect(() => segments.append([Buffer.alloc(MiB)])).toThrow('ENOSPC')
    expect(segments.has(place.segment)).toBe(false)
    await vi.waitFor(() => expect(readdirSync(directory)).toEqual([]))
  })

  it('segments of the spool are ready before they are needed, so no write waits for their pages', async () => {
    const watched = { ...io }
    const mapFile = vi.spyOn(watched, 'mapFile')
    const mapFileLater = vi.spyOn(watched, 'mapFileLater')
    const segments = new Segments({ directory, bytesMax: 100 * MiB, io: watched })
    const places = [segments.append([Buffer.from('half'), Buffer.alloc(MiB / 2)])]
    await mapFileLater.mock.results[0]!.value
    places.push(segments.append([Buffer.from('more'), Buffer.alloc(MiB)]))
    expect(mapFile).toHaveBeenCalledTimes(1)
    expect(places.map((place) => bytesOf(segments, place))).toEqual(['half', 'more'])
    expect(Segments.list(directory).map(({ number }) => number)).toEqual([1, 2])
    segments.removeAll()
    await vi.waitFor(() => expect(readdirSync(directory)).toEqual([]))
  })

  it('segments of the spool are prepared one after the other: two would be the same file', async () => {
    const prepared = Promise.withResolvers<void>()
    const slow = { ...io, mapFileLater: vi.fn(() => prepared.promise.then(() => -28)) }
    const segments = new Segments({ directory, bytesMax: 100 * MiB, io: slow })
    for (let i = 0; i < 8; i++) segments.append([Buffer.alloc(MiB)])
    expect(slow.mapFileLater).toHaveBeenCalledTimes(1)
    prepared.resolve()
    await slow.mapFileLater.mock.results[0]!.value
    for (let i = 0; i < 16; i++) segments.append([Buffer.alloc(MiB)])
    expect(slow.mapFileLater).toHaveBeenCalledTimes(2)
    segments.removeAll()
  })

  it('each begins with what must be known after a crash', () => {
    const segments = new Segments({
      directory,
      bytesMax: 100 * MiB,
      io,
      head: () => [Buffer.from('head')],
    })
    for (let i = 0; i < 70; i++) segments.append([Buffer.alloc(MiB)])
    const numbers = Segments.list(directory).map(({ number }) => number)
    expect(numbers.length).toBeGreaterThan(2)
    for (const segment of numbers) expect(bytesOf(segments, { segment, position: 0 })).toBe('head')
    segments.removeAll()
  })
})
