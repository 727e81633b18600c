import { unlinkSync } from 'node:fs'
import type { Op, Time } from '@cairn/core'
import { readSegmentFile, Segments } from '../data/segments.ts'
import { type Touched, touchedBy } from '../kernel/touched.ts'
import type { Requests } from './done-before.ts'
import { decodeRecords, type SpoolRecord } from '../data/spool-record.ts'
import { readSession } from './session-file.ts'

export interface PendingBatch {
  readonly number: number
  readonly epoch: number
  readonly time: Time
  readonly ops: readonly Op[]
}

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
  let { lastNumber, seq } = note
  const batches = new Map<number, PendingBatch & { readonly ops: Op[] }>()
  let open: (PendingBatch & { readonly ops: Op[] }) | undefined
  for (const record of spool.records) {
    if (record.type === 'progress') {
      seq = Math.max(seq, record.seq)
      lastNumber = Math.max(lastNumber, record.lastNumber)
    } else if (record.type === 'batch') {
      const { number, epoch, time } = record
      batches.set(number, (open = { number, epoch, time, ops: [] }))
      lastNumber = Math.max(lastNumber, number)
    } else if (record.type === 'op') open?.ops.push(record.op)
  }
  return {
    session: note.session,
    seq,
    lastNumber: lastNumber + unnotedMax,
    pending: [...batches.values()].filter(({ number }) => number > spool.settled),
    requests: requestsIn(spool.records),
    lastSegment: segments.at(-1)?.number ?? 0,
    forget: () => {
      for (const { path: file } of segments) unlinkSync(file)
    },
  }
}

function requestsIn(records: readonly SpoolRecord[]): Requests {
  const done = new Map<number, Op>()
  const asked = new Map<number, { readonly op: Op; readonly number: number }>()
  const taken = new Set<number>()
  for (const record of records.slice(-requestsMax))
    if (record.type === 'op') done.set(record.request, record.op)
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
    if (bytesRead >= bytesMin && head?.type === 'progress' && head.lastNumber <= settled) break
  }
  return { records: parts.flat(), settled }
}

/**
 * A batch of the process before, which that one saw in the log, or which no process has seen there.
 */
export function isOld(number: number, recovered: Recovered | undefined): boolean {
  return recovered !== undefined && number <= recovered.lastNumber
}

/** What the kernel was told under names that the server may never have. */
export function pendingNames(recovered: Recovered | undefined): Touched['names'] {
  const ops = recovered?.pending.flatMap((batch) => batch.ops) ?? []
  return ops.flatMap((op) => touchedBy(op, () => undefined).names)
}
