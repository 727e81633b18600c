import { unlinkSync } from 'node:fs'
import type { Op, Time } from '@cairn/core'
import { readSegmentFile, Segments } from '../data/segments.ts'
import { type Touched, touchedBy } from '../sync/touched.ts'
import { decodeRecords } from './record.ts'
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
  /** The last things it did, some of which it may not have answered. */
  readonly lastOps: readonly Op[]
  /** For the segments to come. */
  readonly lastSegment: number
  /** Once everything is at the server. */
  forget(): void
}

/** More than programs can have been waiting for. */
const lastOpsMax = 256

/** More batches than can have been sent after the last note of progress: only acknowledged ones stand in the spool. */
const unnotedMax = 2 ** 30

/** Undefined when nobody was here. */
export function recover(directory: string): Recovered | undefined {
  const note = readSession(directory)
  if (!note) return undefined
  const segments = Segments.list(directory)
  let { lastNumber, seq } = note
  let settled = 0
  const batches = new Map<number, PendingBatch & { readonly ops: Op[] }>()
  const lastOps: Op[] = []
  let open: (PendingBatch & { readonly ops: Op[] }) | undefined
  for (const { path: file } of segments)
    for (const record of decodeRecords(readSegmentFile(file))) {
      if (record.type === 'progress') {
        seq = Math.max(seq, record.seq)
        settled = Math.max(settled, record.settled)
        lastNumber = Math.max(lastNumber, record.lastNumber)
      } else if (record.type === 'batch') {
        const { number, epoch, time } = record
        batches.set(number, (open = { number, epoch, time, ops: [] }))
        lastNumber = Math.max(lastNumber, number)
      } else if (record.type === 'op') open?.ops.push(record.op)
      if (record.type === 'op' || record.type === 'intent') lastOps.push(record.op)
      if (lastOps.length > 2 * lastOpsMax) lastOps.splice(0, lastOpsMax)
    }
  return {
    session: note.session,
    seq,
    lastNumber: lastNumber + unnotedMax,
    pending: [...batches.values()].filter(({ number }) => number > settled),
    lastOps,
    lastSegment: segments.at(-1)?.number ?? 0,
    forget: () => {
      for (const { path: file } of segments) unlinkSync(file)
    },
  }
}

/** A batch of the process before, which that one saw in the log or nobody did. */
export function isOld(number: number, recovered: Recovered | undefined): boolean {
  return recovered !== undefined && number <= recovered.lastNumber
}

/** What the kernel was told under names that the server may never have. */
export function pendingNames(recovered: Recovered | undefined): Touched['names'] {
  const ops = recovered?.pending.flatMap((batch) => batch.ops) ?? []
  return ops.flatMap((op) => touchedBy(op, () => undefined).names)
}
