/** A text, or in base64 where its bytes are no UTF-8. */
export type GrepText = { readonly text: string } | { readonly bytes: string }

/** Where a search found something. */
interface GrepPlace {
  readonly path: GrepText
  /** The attempt, where several are searched. */
  readonly layer?: string
}

/** How much was searched and found. */
export interface GrepStats {
  readonly elapsed: GrepElapsed
  readonly searches: number
  readonly searches_with_match: number
  readonly bytes_searched: number
  readonly bytes_printed: number
  readonly matched_lines: number
  readonly matches: number
}

interface GrepElapsed {
  readonly secs: number
  readonly nanos: number
  readonly human: string
}

export interface GrepLines extends GrepPlace {
  /** With their newlines. */
  readonly lines: GrepText
  /** The number of the first one, from 1. */
  readonly line_number: number
  readonly absolute_offset: number
  /** In bytes, from the beginning of the lines. */
  readonly submatches: readonly {
    readonly match: GrepText
    readonly start: number
    readonly end: number
  }[]
}

export interface GrepSummary {
  readonly elapsed_total: GrepElapsed
  readonly stats: GrepStats
  /** What ran the pattern: a search for plain text, a table of states, or all states at once. */
  readonly engine: 'literal' | 'dfa' | 'nfa'
  /** Why the answer is not whole; null when it is. */
  readonly truncated: 'time' | 'bytes' | 'lines' | null
  /** The cursor to go on with. */
  readonly next?: string
}

/** One line of the answer to a search, as `rg --json` prints them; `layer`, `engine`, `truncated` and `next` are ours. */
export type GrepEvent =
  | { readonly type: 'begin'; readonly data: GrepPlace }
  | { readonly type: 'match' | 'context'; readonly data: GrepLines }
  | {
      readonly type: 'end'
      readonly data: GrepPlace & {
        readonly binary_offset: number | null
        readonly stats: GrepStats
      }
    }
  | { readonly type: 'summary'; readonly data: GrepSummary }
