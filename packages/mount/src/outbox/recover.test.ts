import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ino } from '@cairn/protocol'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeRecord, type SpoolRecord } from '../data/spool-record.ts'
import { noteReleased, recover, type Recovered } from './recover.ts'
import { removeSession, writeSession } from './session-file.ts'

const time = { sec: 1, nsec: 0 }
const batch = (number: number): SpoolRecord => ({ type: 'batch', number, epoch: 1, time })
const reap = (ino: number): SpoolRecord => ({
  type: 'op',
  op: { type: 'reap', ino: ino as Ino },
  request: ino,
})

/** As a mount does it: one batch is open, the others wait; each segment begins with how far it has come. */
function spoolSteps(
  steps: readonly string[],
  spool: (segment: number, ...records: SpoolRecord[]) => void,
): [number: number, ops: number][] {
  let [segment, lastNumber, settled] = [1, 0, 0]
  let open: [number: number, ops: number] | undefined
  const waiting: [number: number, ops: number][] = []
  const progress = (): SpoolRecord => {
    const isAllThere = open === undefined && waiting.length === 0
    return {
      type: 'progress',
      settled: isAllThere ? lastNumber : settled,
      lastNumber,
      seq: 1,
      hasDeferred: false,
    }
  }
  spool(segment, progress())
  for (const step of steps) {
    if (step === 'op' && open === undefined) {
      open = [++lastNumber, 0]
      spool(segment, batch(lastNumber))
    }
    if (step === 'op') spool(segment, reap(1 + open![1]++))
    if (step === 'close' && open) waiting.push(open)
    if (step === 'close') open = undefined
    if (step === 'settle') settled = waiting.shift()?.[0] ?? settled
    // A change that the server decides about has a number and stands in no batch.
    if (step === 'submit') lastNumber++
    if (step === 'note') spool(segment, progress())
    if (step === 'segment') spool(++segment, progress())
  }
  // Without a last note, what was settled since the one before would be handed in once more.
  spool(segment, progress())
  return open ? [...waiting, open] : waiting
}

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

  it('what a process left behind is nothing without an earlier process', () => {
    removeSession(directory)
    expect(recover(directory)).toBeUndefined()
  })

  it('batches in order, also over the border of a segment, without what the server has', () => {
    spool(
      9,
      { type: 'progress', settled: 1, lastNumber: 3, seq: 5, hasDeferred: false },
      batch(1),
      reap(10),
      batch(2),
      reap(20),
    )
    spool(
      10,
      reap(21),
      { type: 'progress', settled: 1, lastNumber: 3, seq: 7, hasDeferred: false },
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
    spool(1, { type: 'progress', settled: 0, lastNumber: 500, seq: 9, hasDeferred: false })
    expect(recover(directory)!.lastNumber).toBeGreaterThan(500 + 1_000_000)
  })

  it('where only the session is left, it goes on behind what that began with', () => {
    const { lastNumber, ...rest } = recover(directory)!
    expect(rest).toMatchObject({ session: 's', seq: 4, pending: [], lastSegment: 0 })
    expect(lastNumber).toBeGreaterThan(3 + 1_000_000)
  })

  it('a session noted without numbers goes on behind those of its spool', () => {
    writeFileSync(join(directory, 'session.json'), JSON.stringify({ session: 'old' }))
    spool(1, { type: 'progress', settled: 0, lastNumber: 500, seq: 9, hasDeferred: false })
    const { lastNumber, ...rest } = recover(directory)!
    expect(rest).toMatchObject({ session: 'old', seq: 9 })
    expect(lastNumber).toBeGreaterThan(500)
  })

  describe('far back', () => {
    const far = encodeRecord({ type: 'bytes' }, new Uint8Array(64 << 20))

    /**
     * A segment that begins so, and has so much in it that no program may still wait for what was
     * done before.
     */
    function spoolMuch(segment: number, settled: number, lastNumber: number): void {
      spool(segment, { type: 'progress', settled, lastNumber, seq: 9, hasDeferred: false })
      for (const piece of far) appendFileSync(join(directory, `segment-${segment}`), piece)
    }

    it('where everything was at the server nothing is read', () => {
      mkdirSync(join(directory, 'segment-1'))
      spoolMuch(2, 5, 5)
      spool(3, batch(6), reap(60))
      expect(pending()).toEqual({ 6: [60] })
    })

    it('what was not at the server then, and is now, is not read either', () => {
      mkdirSync(join(directory, 'segment-1'))
      spoolMuch(2, 4, 5)
      spool(3, { type: 'progress', settled: 5, lastNumber: 5, seq: 9, hasDeferred: false })
      expect(pending()).toEqual({})
    })

    it('what is not at the server is found', () => {
      spool(1, batch(4), reap(40), batch(5), reap(50))
      spoolMuch(2, 4, 5)
      spoolMuch(3, 4, 5)
      expect(pending()).toEqual({ 5: [50] })
    })
  })

  it('what was done last is found where much less has been read since', () => {
    spool(1, batch(1), reap(10))
    spool(2, { type: 'progress', settled: 1, lastNumber: 1, seq: 9, hasDeferred: false })
    const { pending, requests } = recover(directory)!
    expect([pending, requests.done.get(10)]).toEqual([[], { type: 'reap', ino: 10 }])
  })

  it('whatever a mount did, what it had not handed in is found, wherever its segments end', () => {
    const step = fc.constantFrom('op', 'op', 'close', 'settle', 'submit', 'note', 'segment')
    const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      for (const name of readdirSync(directory)) rmSync(join(directory, name))
      writeSession(directory, { session: 's', lastNumber: 0, seq: 0 })
      const expected = spoolSteps(steps, spool)
      const batches = recover(directory, 0)!.pending
      expect(batches.map(({ number, ops }) => [number, ops.length])).toEqual(expected)
    })
    fc.assert(property, { numRuns: 500 })
  })

  it('what a process left behind is forgotten as a whole', () => {
    spool(1, batch(1), reap(10))
    recover(directory)!.forget()
    expect(existsSync(join(directory, 'segment-1'))).toBe(false)
  })

  describe('deferred', () => {
    const deferred = (id: number): SpoolRecord => ({
      type: 'deferred',
      op: { type: 'reap', ino: id as Ino },
      request: 0,
      class: 'local',
      id,
      epoch: 3,
    })
    const released = (number: number, first: number, count: number): SpoolRecord => ({
      type: 'released',
      number,
      epoch: 3,
      time,
      class: 'local',
      first,
      count,
    })
    const numbersOf = (found: Recovered): unknown =>
      found.pending.map(({ number, epoch, ops }) => [number, epoch, ops.length])

    it('what was deferred is pending under the number with which it was released', () => {
      spool(1, deferred(1), batch(1), reap(9), deferred(2), released(2, 1, 2), deferred(3))
      const found = recover(directory)!
      expect(numbersOf(found)).toEqual([
        [1, 1, 1],
        [2, 3, 2],
        [expect.any(Number), 3, 1],
      ])
      expect(found.lastDeferred).toEqual({ local: 3, scratch: 0 })
    })

    it('what was deferred and not released gets a number that the process after the next finds again', async () => {
      spool(1, batch(1), reap(9), deferred(1), deferred(2))
      const first = recover(directory)!
      await noteReleased(directory, first, () => Promise.resolve())
      expect(numbersOf(recover(directory)!)).toEqual(numbersOf(first))
    })

    it('what was deferred is found in segments from before everything else was at the server', () => {
      const rest = { type: 'progress', settled: 1, lastNumber: 1, seq: 9 } as const
      spool(1, deferred(1))
      spool(2, { ...rest, hasDeferred: true })
      expect(recover(directory, 1)!.pending).toHaveLength(1)
    })
  })
})
