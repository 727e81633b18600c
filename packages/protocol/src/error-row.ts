import type { Errno } from './errno.ts'
import type { ExitCode } from './exit-codes.ts'

/** Whether sending it again can help: never, as it is, or after reading the state again. */
export type RetryClass = 'never' | 'same-request' | 'after-refresh'

export interface ErrorRow {
  /** Absent where no server sends the code: the SDK or the command line reports it itself. */
  readonly httpStatus?: number
  /** What a program in a mount sees. */
  readonly errno: Errno
  /** How a `cairn` command ends; exit-codes.ts says what each code means. */
  readonly exitCode: ExitCode
  readonly retry: RetryClass
  /** What the reader should do next, unless the error itself says something more fitting. */
  readonly hint: string
}
