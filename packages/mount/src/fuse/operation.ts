import type { ByteString } from '@cairn/protocol'
import type { Answer, FuseFileSystem } from './file-system.ts'
import type { Reply } from './reply.ts'
import type { Request } from './request.ts'

/** What operations share within one mount. */
export interface OperationContext {
  fs: FuseFileSystem
  /** Seconds the kernel may remember that a name is not there. */
  readonly negativeTtl: number
  /** Locks are the file system's; then opens, closes and flushes are asked, because they end locks. */
  locks: boolean
  /** What makes a file and only writes to it does so past the kernel's pages. */
  writesDirectly: boolean
}

/** A name in a directory or, without a name, an inode. */
export interface ChangedNode {
  readonly nodeid: number
  readonly name?: ByteString
}

/** How one of the kernel's requests is read, asked and answered. */
export interface Operation<T> {
  readonly name: string
  /** Takes all it needs out of the request before it returns. */
  call(context: OperationContext, request: Request): Answer<T>
  /** Writes what follows the header; absent: nothing does. Or gives an errno, which costs less than to throw one. */
  write?(reply: Reply, value: T, context: OperationContext): number | void
  /** The value is done with: its reply is written and goes out next, or never will. */
  end?(value: T): void
  /** The caller was told of a failure before the answer came: takes back what it alone would have known. */
  undo?(context: OperationContext, value: T): Answer<void>
  /** What it changes: the kernel's picture of that is wrong after an answer that came too late. */
  touches?(request: Request): readonly ChangedNode[]
  /** How long a parked request may take that changes nothing: programs expect syncing and locking to take its time. */
  readonly waits?: 'without-limit'
  /** A parked wait that any signal ends, not only one that kills. */
  readonly interruptible?: true
}

/** Any operation: which one was asked is known only when it is. */
export type AnyOperation = Operation<unknown>

/** `next` on the value, now or when it comes. */
export function after<T, U>(answer: Answer<T>, next: (value: T) => Answer<U>): Answer<U> {
  return answer instanceof Promise ? answer.then(next) : next(answer)
}
