import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Segments } from './segments.ts'

const MiB = 1 << 20

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
    const segments = new Segments(directory, 100 * MiB)
    const first = segments.append([Buffer.from('ab'), Buffer.from('cd')])
    const second = segments.append([Buffer.from('efgh')])
    expect([bytesOf(segments, first), bytesOf(segments, second)]).toEqual(['abcd', 'efgh'])
    segments.removeAll()
  })

  it('let the oldest go when there is too much, and never what is pinned', () => {
    const segments = new Segments(directory, 40 * MiB)
    const block = Buffer.alloc(MiB, 'x')
    const places = Array.from({ length: 40 }, () => segments.append([block]))
    const pinned = places.at(-1)!.segment
    segments.pinFrom(pinned)
    for (let i = 0; i < 100; i++) segments.append([block])
    expect(segments.has(places[0]!.segment)).toBe(false)
    expect(segments.has(pinned)).toBe(true)
    segments.pinFrom(Infinity)
    for (let i = 0; i < 40; i++) segments.append([block])
    expect(segments.has(pinned)).toBe(false)
    const onDisk = readdirSync(directory).map((name) => statSync(join(directory, name)).size)
    expect(onDisk.reduce((sum, size) => sum + size, 0)).toBe(segments.bytes)
    segments.removeAll()
  })

  it('each begins with what must be known after a crash', () => {
    const segments = new Segments(directory, 100 * MiB, () => [Buffer.from('head')])
    for (let i = 0; i < 70; i++) segments.append([Buffer.alloc(MiB)])
    const numbers = Segments.list(directory).map(({ number }) => number)
    expect(numbers.length).toBeGreaterThan(2)
    for (const segment of numbers) expect(bytesOf(segments, { segment, position: 0 })).toBe('head')
    segments.removeAll()
  })
})
