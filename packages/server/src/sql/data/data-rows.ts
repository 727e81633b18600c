/** What is wrong with a file that is read as a table, for the person who wrote the statement. */
export class DataError extends Error {
  override readonly name = 'DataError'
  readonly hint: string | undefined

  constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options)
    this.hint = options.hint
  }
}

export interface DataColumn {
  readonly name: string
  /** Absent where each value brings its own. */
  readonly type?: 'integer' | 'real' | 'text'
}

/** A file as a table. `rows` can be read several times; a row may end early, and what is missing is null. */
export interface DataRows {
  readonly columns: readonly DataColumn[]
  rows(): Iterable<readonly unknown[]> | AsyncIterable<readonly unknown[]>
}
