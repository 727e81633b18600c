import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Inode } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Contents, type ContentsParts } from './contents.ts'
import { loadFuseIo } from '../fuse/native.ts'
import { Segments } from './segments.ts'

const io = await loadFuseIo()

const ino = 7 as Ino
const block = 256 * 1024
const file = { kind: 'file', size: 1000 } as Inode

describe('bytes that are at the server', () => {
  let directory: string
  let segments: Segments
  let largeSegments: Segments
  let server: Buffer
  let settled: PromiseWithResolvers<void>
  let contents: Contents
  let fetches: number

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-contents-'))
    segments = new Segments({ directory, bytesMax: 1 << 20, io })
    largeSegments = new Segments({ directory: join(directory, 'l'), bytesMax: 256 << 20, io })
    server = Buffer.alloc(1000, 'o')
    settled = Promise.withResolvers()
    fetches = 0
    contents = make({})
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  function make(parts: Partial<ContentsParts>): Contents {
    return new Contents({
      segments,
      fetch: async (_ino, offset, length) => {
        fetches++
        return Buffer.from(server.subarray(offset, offset + length))
      },
      whenSettled: () => settled.promise,
      keep: (bytes) => segments.append([bytes]),
      ...parts,
    })
  }

  async function text(offset: number, end: number): Promise<string> {
    return Buffer.from(await contents.read(ino, file, offset, end)).toString()
  }

  /** The server takes in a copy of four bytes to the start. */
  function settle(): void {
    server.write('copy', 0)
    settled.resolve()
  }

  it('bytes that are at the server are fetched once and kept', async () => {
    expect(await text(0, 3)).toBe('ooo')
    server.fill('n')
    expect(await text(0, 3)).toBe('ooo')
  })

  it('a copy on its way there is not taken for what was there before, when its neighbours are read', async () => {
    contents.of(ino, file).put(0, 4, { type: 'server', after: 1 })
    const neighbour = text(500, 503)
    settle()
    expect(await neighbour).toBe('ooo')
    expect(await text(0, 5)).toBe('copyo')
  })

  it('a block is not kept if it was requested before the change', async () => {
    const before = text(500, 503)
    contents.of(ino, file).put(0, 4, { type: 'server', after: 1 })
    const after = text(0, 5)
    settle()
    expect([await before, await after]).toEqual(['ooo', 'copyo'])
    expect(await text(0, 5)).toBe('copyo')
  })

  it('a copy made while an earlier one is waited for is not taken for what was there before it', async () => {
    const first = Promise.withResolvers<void>()
    const whenSettled = (number: number): Promise<void> => (number === 1 ? first : settled).promise
    contents = make({ whenSettled })
    contents.of(ino, file).put(500, 4, { type: 'server', after: 1 })
    const reading = text(500, 504)
    contents.of(ino, file).put(0, 4, { type: 'server', after: 2 })
    first.resolve()
    await expect.poll(() => fetches).toBe(1)
    settle()
    expect(await reading).toBe('oooo')
    expect(await text(0, 5)).toBe('copyo')
  })

  it('what was written here during a fetch is not replaced by it when its segment is deleted meanwhile', async () => {
    const asked: PromiseWithResolvers<Uint8Array>[] = []
    const fetch = (): Promise<Uint8Array> => {
      asked.push(Promise.withResolvers<Uint8Array>())
      return asked.at(-1)!.promise
    }
    contents = make({ fetch })
    const reading = text(0, 5)
    await expect.poll(() => asked.length).toBe(1)
    const place = segments.append([Buffer.from('mine')])
    segments.pinFrom(place.segment)
    contents.of(ino, file).put(0, 4, { type: 'local', ...place })
    const old = Buffer.from(server)
    server.write('mine', 0)
    segments.pinFrom(Infinity)
    segments.removeAll()
    asked[0]!.resolve(old)
    await Promise.race([reading, expect.poll(() => asked.length).toBe(2)])
    asked[1]?.resolve(server)
    expect(await reading).toBe('mineo')
  })

  it('bytes that another client wrote meanwhile are fetched again', async () => {
    const reading = text(0, 4)
    server.write('new!', 0)
    contents.of(ino, file).forget(0, 4)
    expect(await reading).toBe('new!')
    expect(await text(0, 4)).toBe('new!')
  })

  it('neighbouring blocks are asked for by one request', async () => {
    const large = { kind: 'file', size: 4 * block } as Inode
    server = Buffer.alloc(large.size, 'o')
    await contents.read(ino, large, block - 1, 3 * block + 1)
    expect(fetches).toBe(1)
  })

  it('a reader in order is fetched for ahead: by megabytes, a few at a time, each block once', async () => {
    // It ends within a block.
    const large = { kind: 'file', size: (24 << 20) - 100 } as Inode
    server = Buffer.alloc(large.size, 'o')
    const asked = new Map<number, number>()
    let [underWay, most] = [0, 0]
    const fetch = async (_: Ino, offset: number, length: number): Promise<Uint8Array> => {
      for (let at = offset; at < offset + length; at += block)
        asked.set(at, (asked.get(at) ?? 0) + 1)
      most = Math.max(most, (underWay += length))
      fetches++
      await new Promise(setImmediate)
      underWay -= length
      return server.subarray(offset, offset + length)
    }
    contents = make({
      fetch,
      keep: (bytes) => largeSegments.append([bytes]),
      segments: largeSegments,
    })
    for (let at = 0; at < large.size; at += block / 2) {
      const end = Math.min(large.size, at + block / 2)
      expect((await contents.read(ino, large, at, end)).length).toBe(end - at)
    }
    expect(new Set(asked.values())).toEqual(new Set([1]))
    expect(asked.size).toBe(Math.ceil(large.size / block))
    expect(fetches).toBeLessThan(32)
    expect(most).toBeLessThanOrEqual(8 << 20)
  })

  it('a reader that jumps about is not fetched for ahead', async () => {
    const large = { kind: 'file', size: 64 * block } as Inode
    server = Buffer.alloc(large.size, 'o')
    for (const index of [40, 3, 20, 60, 10])
      await contents.read(ino, large, index * block, index * block + 4096)
    expect(fetches).toBe(5)
  })

  it('what was cut off here does not come back from there', async () => {
    contents.of(ino, file).truncate(2)
    expect(await text(0, 4)).toBe('oo\0\0')
  })
})
