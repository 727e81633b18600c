import { type SessionRequest, sessionVersion } from '@cairn/protocol'
import type { SessionOptions } from './options.ts'

interface Known {
  readonly session: string
  readonly seq: number
  readonly path: string
}

/** The first word over a connection: of a branch as it goes on, or of its past. */
export function greetingOf(
  { workspace, branch, mode, at }: SessionOptions,
  { session, seq, path }: Known,
): SessionRequest {
  const about = { version: sessionVersion, workspace, branch, session, path }
  return at === undefined
    ? { type: 'hello', ...about, mode, seq }
    : { type: 'revisit', ...about, at }
}
