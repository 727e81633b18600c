import type { Op, Time } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import { encodeRecord } from '../data/spool-record.ts'
import type { Reservation } from '../session/options.ts'

/** A batch with so much is complete. */
export const batchOpsMax = 8000
export const batchBytesMax: number = 2 << 20

/** What is acknowledged and not sent yet. */
export interface OpenBatch {
  readonly reservation: Reservation
  readonly time: Time
  /** That all of its operations are part of. */
  readonly toolCall: string | undefined
  readonly openedAt: number
  readonly ops: Op[]
  /** That its operations concern. */
  readonly directories: Set<Ino>
  /** Where its first operation stands. */
  segment: number
  bytes: number
  /** It is complete with so many bytes. */
  readonly bytesMax: number
  /** And does not grow beyond these for a file that is being written. */
  readonly wholeBytesMax: number
  /** Files that it creates. */
  readonly created: Set<Ino>
  /** One of them was written since the outbox last looked. */
  isFilling: boolean
  /** It ends with the file that is being written. */
  isDue: boolean
  /** Stands in the spool before the batch is sent. */
  readonly note?: readonly Uint8Array[]
}

export function newBatch(
  reservation: Reservation,
  time: Time,
  { bytesMax, wholeBytesMax }: Pick<OpenBatch, 'bytesMax' | 'wholeBytesMax'>,
  toolCall?: string,
): OpenBatch {
  return {
    reservation,
    time,
    toolCall,
    openedAt: performance.now(),
    ops: [],
    directories: new Set<Ino>(),
    segment: Infinity,
    bytes: 0,
    bytesMax,
    wholeBytesMax,
    created: new Set<Ino>(),
    isFilling: false,
    isDue: false,
  }
}

/** Whether a file that the batch creates is being written. */
export function noteFile(batch: OpenBatch, op: Op): void {
  if (op.type === 'create') {
    if (op.kind === 'file') batch.created.add(op.ino)
  } else if ((op.type === 'write' || op.type === 'append') && batch.created.has(op.ino))
    batch.isFilling = true
}

export function* inodesOf(ops: readonly Op[]): Generator<Ino> {
  for (const op of ops) {
    if ('ino' in op) yield op.ino
    if ('parent' in op) yield op.parent
    if ('newParent' in op) yield op.newParent
  }
}

/** Written with the first operation: a full disk takes both or none. */
export function headOf({ reservation, time, toolCall }: OpenBatch): Uint8Array[] {
  const { number, epoch } = reservation
  return encodeRecord({ type: 'batch', number, epoch, time, toolCall })
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}
