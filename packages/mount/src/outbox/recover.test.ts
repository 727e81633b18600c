import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ino } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeRecord, type SpoolRecord } from './record.ts'
import { recover } from './recover.ts'
import { removeSession, writeSession } from './session-file.ts'

const time = { sec: 1, nsec: 0 }
const batch = (number: number): SpoolRecord => ({ type: 'batch', number, epoch: 1, time })
const reap = (ino: number): SpoolRecord => ({ type: 'op', op: { type: 'reap', ino: ino as Ino } })

describe('what a process left behind', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-recover-'))
    writeSession(directory, { session: 's', lastNumber: 3, seq: 4 })
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  function spool(segment: number, ...records: SpoolRecord[]): void {
    const bytes = records.flatMap((record) => encodeRecord(record))
    appendFileSync(join(directory, `segment-${segment}`), Buffer.concat(bytes))
  }

  function pending(): Record<number, unknown[]> {
    const batches = recover(directory)!.pending
    return Object.fromEntries(
      batches.map(({ number, ops }) => [number, ops.map((op) => (op as { ino: Ino }).ino)]),
    )
  }

  it('is nothing where nobody was', () => {
    removeSession(directory)
    expect(recover(directory)).toBeUndefined()
  })

  it('batches in order, also over the border of a segment, without what the server has', () => {
    spool(
      9,
      { type: 'progress', settled: 1, lastNumber: 3, seq: 5 },
      batch(1),
      reap(10),
      batch(2),
      reap(20),
    )
    spool(
      10,
      reap(21),
      { type: 'progress', settled: 1, lastNumber: 3, seq: 7 },
      reap(22),
      batch(3),
      reap(30),
    )
    expect(pending()).toEqual({ 2: [20, 21, 22], 3: [30] })
    expect(recover(directory)).toMatchObject({ session: 's', seq: 7, lastSegment: 10 })
  })

  it('operations whose batch was let go with its segment belong to nothing', () => {
    spool(2, reap(10), batch(5), reap(50))
    expect(pending()).toEqual({ 5: [50] })
  })

  it('a torn tail is left out', () => {
    spool(1, batch(1), reap(10))
    const [head] = encodeRecord(reap(11))
    appendFileSync(join(directory, 'segment-1'), head!.subarray(0, head!.length - 1))
    expect(pending()).toEqual({ 1: [10] })
  })

  it('no number that may have been used is used again: not all are in the spool', () => {
    spool(1, { type: 'progress', settled: 0, lastNumber: 500, seq: 9 })
    expect(recover(directory)!.lastNumber).toBeGreaterThan(500 + 1_000_000)
  })

  it('where only the session is left, it goes on behind what that began with', () => {
    const { lastNumber, ...rest } = recover(directory)!
    expect(rest).toMatchObject({ session: 's', seq: 4, pending: [], lastSegment: 0 })
    expect(lastNumber).toBeGreaterThan(3 + 1_000_000)
  })

  it('a session noted without numbers goes on behind those of its spool', () => {
    writeFileSync(join(directory, 'session.json'), JSON.stringify({ session: 'old' }))
    spool(1, { type: 'progress', settled: 0, lastNumber: 500, seq: 9 })
    const { lastNumber, ...rest } = recover(directory)!
    expect(rest).toMatchObject({ session: 'old', seq: 9 })
    expect(lastNumber).toBeGreaterThan(500)
  })

  it('is forgotten as a whole', () => {
    spool(1, batch(1), reap(10))
    recover(directory)!.forget()
    expect(existsSync(join(directory, 'segment-1'))).toBe(false)
  })
})
