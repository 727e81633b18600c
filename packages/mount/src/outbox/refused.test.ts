import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { batchBytesMax, type Op } from '@cairn/core'
import { CairnError, type Ino } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Segments } from '../data/segments.ts'
import { loadFuseIo } from '../fuse/native.ts'
import { RescuedError } from '../session/rescue.ts'
import type { Reservation } from '../session/options.ts'
import { Outbox } from './outbox.ts'

const io = await loadFuseIo()
const time = { sec: 1, nsec: 0 }
const ino = 7 as Ino

describe('an acknowledged write that the server refuses', () => {
  let directory: string
  let outbox: Outbox
  let sent: PromiseWithResolvers<{ seq: number }>[]
  let bodies: number[]
  let heard: string[]

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-outbox-'))
    ;[sent, bodies, heard] = [[], [], []]
    const reserve = (): Reservation => {
      const settled = Promise.withResolvers<{ seq: number }>()
      sent.push(settled)
      const send = (body: Uint8Array): void => void bodies.push(body.length)
      return { number: sent.length, epoch: 1, settled: settled.promise, send }
    }
    outbox = new Outbox({
      segments: new Segments({ directory, bytesMax: 64 << 20, io }),
      reserve,
      reserveUnder: reserve,
      unseen: { add: () => undefined },
      deferrals: { leaseEpoch: () => 1, onReleased: () => undefined },
      putBlob: () => Promise.reject(new Error('nothing here is that large')),
      now: () => time,
      onRescued: () => heard.push('rescued'),
      onRefused: () => heard.push('refused'),
      window: { bytes: 64 << 20, ms: Infinity, busyMs: 100 },
    })
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const touch: Op = { type: 'setattr', ino, mode: 0o600, time }

  it('an acknowledged write that the server refuses is kept in a rescue layer: the next fsync of its file fails, once', async () => {
    outbox.add(touch, 0)
    const drained = outbox.drain()
    sent[0]!.reject(new RescuedError({ result: 'kept', layer: 'b/rescue' }))
    await drained
    await expect.poll(() => heard).toEqual(['rescued'])
    expect(outbox.pendingOps).toBe(0)
    expect([1, 2].map(() => outbox.takeElsewhere(ino))).toEqual([true, false])
  })

  it('comes to the branch by a rescue layer: every fsync succeeds', async () => {
    outbox.add(touch, 0)
    const drained = outbox.drain()
    sent[0]!.reject(new RescuedError({ result: 'committed', layer: 'b/rescue' }))
    await drained
    await expect.poll(() => heard).toEqual(['rescued'])
    expect(outbox.takeElsewhere(ino)).toBe(false)
  })

  it('a refused write stays in the spool if no layer takes it, and later syncs fail', async () => {
    outbox.add(touch, 0)
    const drained = outbox.drain()
    sent[0]!.reject(new CairnError('too_large', { what: 'take it', reason: 'it is so' }))
    await drained
    await expect.poll(() => heard).toEqual(['refused'])
    expect(outbox.pendingOps).toBe(1)
    await expect(outbox.sync()).rejects.toMatchObject({ code: 'EIO' })
  })

  it('an acknowledged write that the server refuses is never skipped if no layer takes it, even when the server took later ones', async () => {
    outbox.add(touch, 0)
    outbox.flushNow()
    outbox.add(touch, 0)
    outbox.flushNow()
    await expect.poll(() => bodies.length).toBe(2)
    sent[0]!.reject(new CairnError('too_large', { what: 'take it', reason: 'it is so' }))
    sent[1]!.resolve({ seq: 2 })
    await expect.poll(() => outbox.pendingOps).toBe(1)
    expect(outbox.settled).toBe(0)
  })

  it('fits into batches that the log takes, even if it is large without data', async () => {
    const value = new Uint8Array(60_000).fill(1)
    for (let i = 0; i < 200; i++)
      outbox.add({ type: 'setxattr', ino, name: `user.${i}`, value, mode: 'set', time }, 0)
    outbox.flushNow()
    await expect.poll(() => bodies.length).toBe(sent.length)
    expect(Math.max(...bodies)).toBeLessThan(batchBytesMax)
    expect(bodies.reduce((sum, length) => sum + length)).toBeGreaterThan(200 * value.length)
  })
})
