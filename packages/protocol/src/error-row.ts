import type { Errno } from './errno.ts'

/** Whether sending it again can help: never, as it is, or after reading the state again. */
export type RetryClass = 'never' | 'same-request' | 'after-refresh'

export interface ErrorRow {
  /** Absent where no server sends the code: the SDK or the command line reports it itself. */
  readonly httpStatus?: number
  /** What a program in a mount sees. */
  readonly errno: Errno
  readonly exitCode: number
  readonly retry: RetryClass
  /** What the reader should do next, unless the error itself says something more fitting. */
  readonly hint: string
}
