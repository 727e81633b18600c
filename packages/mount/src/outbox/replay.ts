import { dataLength, type Op, type Time } from '@cairn/core'
import {
  type DeferringClass,
  deferringClasses,
  encodeRecord,
  type SpoolRecord,
} from '../data/spool-record.ts'
import { batchBytesMax, batchOpsMax } from './open-batch.ts'

export interface PendingBatch {
  readonly number: number
  readonly epoch: number
  readonly time: Time
  readonly toolCall?: string | undefined
  readonly ops: readonly Op[]
}

interface DeferredOp {
  readonly id: number
  readonly epoch: number
  readonly op: Op
}

type Filling = PendingBatch & { readonly ops: Op[] }

/** Reads the records of a spool in order, and finds out what was acknowledged. */
export class Replay {
  readonly #batches = new Map<number, Filling>()
  readonly #deferred = new Map<DeferringClass, Map<number, DeferredOp>>()
  readonly #lastDeferred = { local: 0, scratch: 0 }
  #open: Filling | undefined
  lastNumber: number
  seq: number

  /** What was known before the first record. */
  constructor({ lastNumber, seq }: { readonly lastNumber: number; readonly seq: number }) {
    this.lastNumber = lastNumber
    this.seq = seq
    for (const of of deferringClasses) this.#deferred.set(of, new Map())
  }

  get batches(): readonly PendingBatch[] {
    return [...this.#batches.values()]
  }

  /** The highest ids of deferred operations, by class. */
  get lastDeferred(): Readonly<Record<DeferringClass, number>> {
    return this.#lastDeferred
  }

  take(record: SpoolRecord): void {
    if (record.type === 'progress') {
      this.seq = Math.max(this.seq, record.seq)
      this.lastNumber = Math.max(this.lastNumber, record.lastNumber)
    } else if (record.type === 'batch') this.#open = this.#begin(record, [])
    else if (record.type === 'op') this.#open?.ops.push(record.op)
    else if (record.type === 'deferred') {
      this.#noteDeferred(record.class, record.id)
      this.#deferred.get(record.class)!.set(record.id, record)
    } else if (record.type === 'released') this.#release(record)
  }

  #begin({ number, epoch, time, toolCall }: Omit<PendingBatch, 'ops'>, ops: Op[]): Filling {
    const batch = { number, epoch, time, toolCall, ops }
    this.#batches.set(number, batch)
    this.lastNumber = Math.max(this.lastNumber, number)
    return batch
  }

  /** Those whose segments are gone are at the server, and so is the whole batch. */
  #release(record: Extract<SpoolRecord, { type: 'released' }>): void {
    const deferred = this.#deferred.get(record.class)!
    const ops: Op[] = []
    for (let id = record.first; id < record.first + record.count; id++) {
      const found = deferred.get(id)
      if (found) ops.push(found.op)
      deferred.delete(id)
    }
    this.#noteDeferred(record.class, record.first + record.count - 1)
    this.#begin(record, ops)
  }

  #noteDeferred(of: DeferringClass, id: number): void {
    this.#lastDeferred[of] = Math.max(this.#lastDeferred[of], id)
  }

  /**
   * Puts what was deferred and never released into batches, with numbers above all that were used. The records must
   * be in the spool before one of them is sent: a second crash must find the same numbers.
   */
  releaseRest(above: number, time: Time): readonly Uint8Array[] {
    const records: Uint8Array[] = []
    for (const [of, deferred] of this.#deferred)
      for (const rest of chunksOf([...deferred.values()])) {
        const { id: first, epoch } = rest[0]!
        const number = Math.max(this.lastNumber, above) + 1
        const count = rest.length
        const released = { type: 'released', number, epoch, time, class: of, first, count } as const
        records.push(...encodeRecord(released))
        this.take(released)
      }
    return records
  }
}

/** Each is of one lease, and no larger than other batches. */
function* chunksOf(all: readonly DeferredOp[]): Generator<readonly DeferredOp[]> {
  let chunk: DeferredOp[] = []
  let bytes = 0
  for (const each of all) {
    const isFull = chunk.length >= batchOpsMax || bytes >= batchBytesMax
    if (chunk.length > 0 && (isFull || each.epoch !== chunk[0]!.epoch)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(each)
    if (each.op.type === 'write') bytes += dataLength(each.op.data)
  }
  if (chunk.length > 0) yield chunk
}
