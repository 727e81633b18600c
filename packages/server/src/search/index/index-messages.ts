import type { Clause } from '../pattern/needs.ts'

/** What the index knows of a content: whether it may have a match. Of an unknown one it knows nothing. */
export const verdicts = { no: 0, maybe: 1, unknown: 2 } as const

/** Texts of at least three bytes, of which every match holds one. */
export type IndexClause = Clause

export interface NewContent {
  readonly key: Uint8Array
  readonly bytes: Uint8Array
}

export interface IndexStatus {
  readonly contents: number
  readonly bytes: number
}

/** Keys stand one behind the other. */
export type IndexRequest =
  | { readonly type: 'missing'; readonly keys: Uint8Array }
  | { readonly type: 'add'; readonly contents: readonly NewContent[] }
  | {
      readonly type: 'select'
      readonly keys: Uint8Array
      readonly clauses: readonly IndexClause[]
      readonly isText: boolean
    }
  | { readonly type: 'keep'; readonly keys: Uint8Array }
  | { readonly type: 'remove' }
  | { readonly type: 'status' }

export interface IndexMessage {
  readonly job: number
  readonly directory: string
  readonly request: IndexRequest
}

export type IndexReply =
  | { readonly job: number; readonly type: 'bytes'; readonly bytes: Uint8Array }
  | ({ readonly job: number; readonly type: 'status' } & IndexStatus)
  | { readonly job: number; readonly type: 'failed'; readonly reason: string }
