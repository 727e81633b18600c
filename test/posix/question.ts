import type { Subject } from './subject.ts'

/**
 * One fact about how a file system behaves. Asking makes calls on a fresh subject and comes back
 * with what was seen as plain data; `expect` is what Linux shows. What file systems may freely
 * choose (inode numbers, order of listings, block counts, sizes of directories) is never part of
 * it.
 */
export interface Question {
  /** `family › situation: what holds`. Unique. */
  readonly fact: string
  /** Needs privileges or a second user: skipped, by name, in a run as an ordinary user. */
  readonly root?: true
  ask(fs: Subject): Promise<unknown>
  readonly expect: unknown
}
