import { encodeRecord, type SpoolRecord } from './spool-record.ts'
import type { SegmentPlace, Segments } from './segments.ts'

/** What may be written down, and may be left out when the disk is full. */
export class Spool {
  readonly #segments: Segments

  constructor(segments: Segments) {
    this.#segments = segments
  }

  /** What is asked of the server, before, and that it was done, after: should this process die, the next one knows. */
  note(record: Extract<SpoolRecord, { type: 'intent' | 'taken' }>): void {
    try {
      this.#segments.append(encodeRecord(record))
    } catch {
      // The disk is full; only a crash in this very moment would miss it.
    }
  }

  keep(bytes: Uint8Array): SegmentPlace | undefined {
    const pieces = encodeRecord({ type: 'bytes' }, bytes)
    try {
      const { segment, position } = this.#segments.append(pieces)
      return { segment, position: position + pieces[0]!.length }
    } catch {
      // The disk is full: what can be fetched again need not be kept.
      return undefined
    }
  }
}
