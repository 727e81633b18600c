import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeBody, type Op } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Segments } from '../data/segments.ts'
import { loadFuseIo } from '../fuse/native.ts'
import type { Reservation } from '../session/options.ts'
import { Outbox } from './outbox.ts'

const io = await loadFuseIo()
const MiB = 1 << 20
const time = { sec: 1, nsec: 0 }
const window = { bytes: 8 * MiB, ms: 5000, busyMs: 100 }

/** An operation that can be told from others by its number. */
const reap = (number: number): Op => ({ type: 'reap', ino: number as Ino })
const write = (number: number, length: number): Op => ({
  type: 'write',
  time,
  ino: number as Ino,
  offset: 0,
  data: { type: 'bytes', bytes: new Uint8Array(length).fill(1) },
  dropPrivileges: false,
})
const create = (number: number): Op => ({
  type: 'create',
  time,
  parent: 1 as Ino,
  name: `${number}` as Name,
  ino: number as Ino,
  kind: 'file',
  mode: 0o644,
  uid: 0,
  gid: 0,
  rdev: 0,
  target: undefined,
})

describe('an outbox', () => {
  let directory: string
  let segments: Segments
  let outbox: Outbox
  /** What reached the server, in the order in which it did: the inodes of each batch. */
  let arrived: number[][]
  /** The batches that the server has not answered. */
  let unanswered: PromiseWithResolvers<{ seq: number }>[]
  /** Bytes of large writes wait for this. */
  let storing: Promise<void>

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'performance'] })
    directory = mkdtempSync(join(tmpdir(), 'cairn-outbox-'))
    segments = new Segments({ directory, bytesMax: 200 * MiB, io })
    ;[arrived, unanswered, storing] = [[], [], Promise.resolve()]
    let number = 0
    const reserveUnder = (epoch: number): Reservation => {
      const settled = Promise.withResolvers<{ seq: number }>()
      return {
        number: ++number,
        epoch,
        settled: settled.promise,
        send: (body) => {
          arrived.push(decodeBody(body.slice()).ops.map((op) => (op as { ino: Ino }).ino))
          unanswered.push(settled)
        },
      }
    }
    outbox = new Outbox({
      segments,
      window,
      unseen: { add: () => undefined },
      now: () => time,
      onRescued: () => undefined,
      onRefused: () => undefined,
      // As a server answers that found nothing but zeros.
      putBlob: () => storing.then(() => new Uint8Array()),
      reserve: () => reserveUnder(1),
      reserveUnder,
      deferrals: { leaseEpoch: () => 1, onReleased: () => undefined },
    })
  })
  afterEach(() => {
    vi.useRealTimers()
    segments.removeAll()
    rmSync(directory, { recursive: true })
  })

  const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

  async function answer(count = unanswered.length): Promise<void> {
    for (const { resolve } of unanswered.splice(0, count)) resolve({ seq: 1 })
    await pass(0)
  }

  it('sends after 20 ms what a program did, in one batch', async () => {
    for (const number of [1, 2, 3]) outbox.add(reap(number), 0)
    await pass(19)
    expect(arrived).toEqual([])
    await pass(1)
    expect(arrived).toEqual([[1, 2, 3]])
    expect(outbox.pendingOps).toBe(3)
    await answer()
    expect([outbox.pendingOps, outbox.pendingBytes, outbox.settled]).toEqual([0, 0, 1])
  })

  it('waits while a program does much, 100 ms at most', async () => {
    let number = 0
    for (let ms = 0; ms < 80; ms += 20) {
      for (let i = 0; i < 60; i++) outbox.add(reap(++number), 0)
      await pass(20)
    }
    expect(arrived).toEqual([])
    for (let i = 0; i < 60; i++) outbox.add(reap(++number), 0)
    await pass(20)
    expect(arrived.flat()).toEqual(Array.from({ length: number }, (_, i) => i + 1))
  })

  it('fills smaller batches beside another client, and ends them between two files', async () => {
    const sizes = async (): Promise<number[]> => {
      arrived = []
      for (let file = 1; file <= 8; file++) {
        outbox.add(create(file), 0)
        for (let piece = 0; piece < 2; piece++) outbox.add(write(file, 64 << 10), 0)
      }
      await outbox.whenSettled(0)
      outbox.flushNow()
      await pass(20)
      await answer()
      return arrived.map((inos) => new Set(inos).size)
    }
    expect(await sizes()).toEqual([8])
    outbox.noteOthers()
    expect(await sizes()).toEqual([2, 2, 2, 2])
    await pass(1000)
    expect(await sizes()).toEqual([8])
  })

  it('sends a new file whole: not before its program has left it alone for 20 ms', async () => {
    outbox.add(create(1), 0)
    for (let piece = 0; piece < 3; piece++) {
      outbox.add(write(1, 1024), 0)
      await pass(20)
      expect(arrived).toEqual([])
    }
    await pass(20)
    expect(new Set(arrived.flat())).toEqual(new Set([1]))
    expect(arrived).toHaveLength(1)
  })

  it('ends a batch that is old enough between two files, where a program writes one after the other', async () => {
    let number = 0
    for (let ms = 0; ms < 140; ms += 20) {
      outbox.add(create(++number), 0)
      outbox.add(write(number, 1024), 0)
      await pass(20)
    }
    expect(arrived.length).toBeGreaterThan(0)
    for (const batch of arrived) expect(batch.filter((ino) => ino === batch.at(-1))).toHaveLength(2)
  })

  it('an outbox is full with more bytes than its window has, and has room when some have arrived', async () => {
    for (let number = 1; number <= 9; number++) {
      expect(outbox.isFull).toBe(false)
      outbox.add(write(number, MiB - 1024), 0)
    }
    expect(outbox.isFull).toBe(true)
    const room = vi.fn()
    void outbox.whenRoom().then(room)
    await pass(0)
    // Each of several blocks.
    expect([...new Set(arrived.flat())]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(room).not.toHaveBeenCalled()
    await answer(1)
    expect(room).toHaveBeenCalled()
    expect(outbox.isFull).toBe(false)
  })

  it('an outbox is full when the oldest that has not arrived is older than its window, and has room when that has', async () => {
    outbox.add(reap(1), 0)
    await pass(4000)
    outbox.add(reap(2), 0)
    await pass(900)
    expect(outbox.isFull).toBe(false)
    // Looked at when the next batch begins, and every 20 ms while one is open.
    await pass(101)
    outbox.add(reap(3), 0)
    expect(outbox.isFull).toBe(true)
    const room = vi.fn()
    void outbox.whenRoom().then(room)
    await pass(10_000)
    expect([outbox.isFull, room.mock.calls.length]).toEqual([true, 0])
    await answer()
    expect([outbox.isFull, room.mock.calls.length]).toEqual([false, 1])
  })

  it('a writer that waits for room never gets further ahead of a slow server than the window', async () => {
    let [number, oldest] = [0, 0]
    const answering = setInterval(() => void answer(1), 1500)
    for (let ms = 0; ms < 60_000; ms += 10) {
      if (!outbox.isFull) {
        oldest = Math.max(oldest, outbox.pendingMs)
        outbox.add(reap(++number), 0)
      } else void outbox.whenRoom()
      await pass(10)
    }
    clearInterval(answering)
    expect(oldest).toBeGreaterThan(1500)
    expect(oldest).toBeLessThanOrEqual(window.ms + 20)
    while (unanswered.length > 0 || outbox.pendingOps > 0) await Promise.all([answer(), pass(20)])
    expect(arrived.flat()).toEqual(Array.from({ length: number }, (_, i) => i + 1))
  })

  it('sends in order, though the bytes of an earlier batch take longer to store', async () => {
    const stored = Promise.withResolvers<void>()
    storing = stored.promise
    outbox.add(write(1, MiB), 0)
    await pass(20)
    outbox.add(reap(2), 0)
    outbox.flushNow()
    await pass(20)
    expect(arrived).toEqual([])
    stored.resolve()
    await pass(0)
    expect(arrived.map(([first]) => first)).toEqual([1, 2])
  })

  it('drain and sync wait for all that was acknowledged, and for nothing after it', async () => {
    outbox.add(reap(1), 0)
    const done: string[] = []
    void outbox.drain().then(() => done.push('drain'))
    void outbox.sync().then(() => done.push('sync'))
    outbox.add(reap(2), 0)
    await pass(20)
    expect([arrived, done]).toEqual([[[1], [2]], []])
    await answer(1)
    expect(done.sort()).toEqual(['drain', 'sync'])
  })

  it('keeps in the spool what has not arrived, and nothing else', async () => {
    const pinFrom = vi.spyOn(segments, 'pinFrom')
    outbox.add(reap(1), 0)
    expect(pinFrom).toHaveBeenLastCalledWith(1)
    await pass(20)
    await answer()
    expect(pinFrom).toHaveBeenLastCalledWith(Infinity)
  })
})
