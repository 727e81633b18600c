import { recover } from '../outbox/recover.ts'

export interface LeftBehind {
  /** Acknowledged to programs, and perhaps not at the server. */
  readonly operations: number
}

/** What a mount that was killed has in its spool. The next one with the same spool hands it in. */
export function findLeftBehind(cacheDirectory: string): LeftBehind {
  const pending = recover(cacheDirectory)?.pending ?? []
  return { operations: pending.reduce((sum, { ops }) => sum + ops.length, 0) }
}
