import { rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Op } from '@cairn/core'
import { now } from '../clock.ts'
import { readSegmentFile, Segments } from '../data/segments.ts'
import { type StaleCaches, touchedBy } from '../kernel/touched.ts'
import type { Requests } from './done-before.ts'
import { decodeRecords, type DeferringClass, type SpoolRecord } from '../data/spool-record.ts'
import { type PendingBatch, Replay } from './replay.ts'
import { readSession, whenRoom } from './session-file.ts'

/** What a process that ended without a word left in its directory. */
export interface Recovered {
  readonly session: string
  readonly seq: number
  /** No batch had a higher number. */
  readonly lastNumber: number
  /** Acknowledged, and perhaps not at the server. */
  readonly pending: readonly PendingBatch[]
  /** The last ones it was asked, some of which it may not have answered. */
  readonly requests: Requests
  /** For the segments to come. */
  readonly lastSegment: number
  readonly lastDeferred: Readonly<Record<DeferringClass, number>>
  /** For the spool, before any of `pending` is sent. */
  readonly released: readonly Uint8Array[]
  /** Once everything is at the server. */
  forget(): void
}

/** More than programs can have been waiting for. */
const requestsMax = 4096

/** More batches than can have been sent after the last note of progress: only acknowledged ones stand in the spool. */
const unnotedMax = 2 ** 30

/** At least so far back it is looked for what was done last: much may have been read since. */
const requestsBytes = 64 << 20

/**
 * Undefined without an earlier process. At least `bytesMin` of the spool are read, if it has so
 * many.
 */
export function recover(
  directory: string,
  bytesMin: number = requestsBytes,
): Recovered | undefined {
  const note = readSession(directory)
  if (!note) return undefined
  const segments = Segments.list(directory)
  const spool = readFromEnd(
    segments.map(({ path }) => path),
    bytesMin,
  )
  const replay = new Replay(note)
  for (const record of spool.records) replay.take(record)
  const released = replay.releaseRest(replay.lastNumber + unnotedMax, now())
  const { batches, seq, lastNumber, lastDeferred } = replay
  return {
    session: note.session,
    seq,
    lastNumber: lastNumber + unnotedMax,
    pending: batches.filter(({ number }) => number > spool.settled),
    requests: requestsIn(spool.records),
    lastSegment: segments.at(-1)?.number ?? 0,
    lastDeferred,
    released,
    forget: () => {
      for (const { path: file } of segments) unlinkSync(file)
      rmSync(releasedPath(directory, segments.at(-1)?.number ?? 0), { force: true })
    },
  }
}

/** Writes down what `recover` released, in a segment of its own. A second crash then finds the same numbers. */
export async function noteReleased(
  directory: string,
  { released, lastSegment }: Recovered,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  if (released.length === 0) return
  const path = releasedPath(directory, lastSegment)
  await whenRoom(() => writeFileSync(path, Buffer.concat(released), { mode: 0o600 }), sleep)
}

function releasedPath(directory: string, lastSegment: number): string {
  return join(directory, `segment-${lastSegment + 1}`)
}

function requestsIn(records: readonly SpoolRecord[]): Requests {
  const done = new Map<number, Op>()
  const asked = new Map<number, { readonly op: Op; readonly number: number }>()
  const taken = new Set<number>()
  for (const record of records.slice(-requestsMax))
    if (record.type === 'op' || record.type === 'deferred') done.set(record.request, record.op)
    else if (record.type === 'intent') asked.set(record.request, record)
    else if (record.type === 'taken') taken.add(record.number)
  // What had no request of its own.
  done.delete(0)
  return { done, asked, taken }
}

interface SpoolEnd {
  /** In order. */
  readonly records: readonly SpoolRecord[]
  /** Everything up to that batch number is at the server. */
  readonly settled: number
}

/**
 * The end of a spool, as far back as something in it may not be at the server: most of it is bytes that were fetched,
 * gigabytes of them. INVARIANT: no batch before a segment has a higher number than the `lastNumber` it begins with.
 */
function readFromEnd(paths: readonly string[], bytesMin: number): SpoolEnd {
  const parts: SpoolRecord[][] = []
  let [settled, bytesRead] = [0, 0]
  for (const path of paths.toReversed()) {
    const bytes = readSegmentFile(path)
    const records = [...decodeRecords(bytes)].filter(({ type }) => type !== 'bytes')
    parts.unshift(records)
    bytesRead += bytes.length
    for (const record of records)
      if (record.type === 'progress') settled = Math.max(settled, record.settled)
    const [head] = records
    if (bytesRead >= bytesMin && head?.type === 'progress' && !needsEarlier(head, settled)) break
  }
  return { records: parts.flat(), settled }
}

/** Whether segments before the one that begins with `head` may hold what is not at the server. */
function needsEarlier(head: Extract<SpoolRecord, { type: 'progress' }>, settled: number): boolean {
  return head.hasDeferred || head.lastNumber > settled
}

/**
 * A batch of the process before, which that one saw in the log, or which no process has seen there.
 */
export function isOld(number: number, recovered: Recovered | undefined): boolean {
  return recovered !== undefined && number <= recovered.lastNumber
}

/** What the kernel was told under names that the server may never have. */
export function pendingNames(recovered: Recovered | undefined): StaleCaches['names'] {
  const ops = recovered?.pending.flatMap((batch) => batch.ops) ?? []
  return ops.flatMap((op) => touchedBy(op, () => undefined).names)
}
