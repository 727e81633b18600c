import type { PieceColumns } from './piece-columns.ts'
import type { Engine, PatternOptions } from './pattern/pattern.ts'
import type { Needs } from './pattern/needs.ts'
import type { FoundPlace } from './scan/events.ts'
import type { ScanOptions } from './scan/file-scan.ts'

/** What a search looks for. */
export interface SearchSpec extends ScanOptions {
  readonly pattern: string
  readonly options: PatternOptions
  /** What `wants: 'words'` counts: the pattern finds them and more. Lines that are wanted are clipped to what a passage shows. */
  readonly words?: readonly string[]
}

/** A part of a file, or a whole one. */
export interface FilePart {
  readonly places: readonly FoundPlace[]
  readonly bytes: Uint8Array
  readonly isFirst: boolean
  readonly isLast: boolean
  /** Asked for by its own path. */
  readonly isNamed: boolean
  /** Lines up to this one were given before. */
  readonly afterLine: number
}

export type ScanRequest =
  | { readonly type: 'open'; readonly search: number; readonly spec: SearchSpec }
  | {
      readonly type: 'scan'
      readonly search: number
      readonly job: number
      readonly pieces: PieceColumns
      /** How many lines may still be given. */
      readonly linesMax: number
      readonly textMax: number
      readonly timeMs: number
    }
  | { readonly type: 'close'; readonly search: number }

export interface ScanCounts {
  readonly files: number
  readonly filesWithMatch: number
  readonly bytes: number
  readonly matchedLines: number
  readonly matches: number
}

export interface Scanned {
  /** Lines of JSON. */
  readonly text: string
  readonly counts: ScanCounts
  readonly lines: number
  readonly engine: Engine
  /** The file that is not at its end needs no more bytes. */
  readonly isFileDone: boolean
  /** A budget ended in this piece, behind this line; without a line, at the end of its file. */
  readonly stop?: {
    readonly piece: number
    readonly line?: number
    readonly why: 'lines' | 'time'
  }
}

export type ScanReply =
  | {
      readonly type: 'opened'
      readonly search: number
      readonly engine: Engine
      readonly needs: Needs
    }
  | { readonly type: 'refused'; readonly search: number; readonly reason: string }
  | ({ readonly type: 'scanned'; readonly search: number; readonly job: number } & Scanned)
