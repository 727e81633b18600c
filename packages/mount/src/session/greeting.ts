import { type ByteString, type Ino, type SessionRequest, sessionVersion } from '@cairn/protocol'
import type { SessionOptions } from './options.ts'

interface Known {
  readonly session: string
  readonly seq: number
  /** Undefined until a server has found the directory. */
  readonly root: Ino | undefined
}

/** The first word over a connection: of a branch as it goes on, or of its past. */
export function greetingOf(
  { workspace, branch, mode, at, path: requested = '' as ByteString }: SessionOptions,
  { session, seq, root }: Known,
): SessionRequest {
  // Once found, the directory is known by its inode: it may have another name by now.
  const path = root === undefined ? requested : ''
  const about = { version: sessionVersion, workspace, branch, session, path }
  return at === undefined
    ? { type: 'hello', ...about, mode, seq }
    : { type: 'revisit', ...about, at }
}
