import {
  applyNewOp,
  batchBytesMax,
  type Call,
  Changes,
  changeTooLarge,
  encodedBytes,
  compareTimes,
  nameCalls,
  type Op,
  resolvePath,
  type Resolved,
  type View,
  superuser,
} from '@cairn/core'
import { type ByteString, FsError, type Ino, type Name, rootIno } from '@cairn/protocol'
import { nanoseconds, timeOf } from '../ports/clock.ts'

interface EditEnv extends Pick<Call, 'now' | 'newIno'> {
  readonly reapsAtOnce: boolean
}

/** Collects operations by path; each sees what those before it did. Nothing is written until they are submitted. */
export class TreeEdit {
  readonly ops: Op[] = []
  readonly view: Changes
  readonly call: Call
  #bytes = 0
  /** No session follows the branch, so none has a file open. Else a file without a name waits for the reaper. */
  readonly #reapsAtOnce: boolean
  readonly #guard: ((view: View, op: Op) => void) | undefined

  /** `guard` refuses an operation by throwing. */
  constructor(view: View, env: EditEnv, guard?: (view: View, op: Op) => void) {
    const { now, newIno, reapsAtOnce } = env
    this.#guard = guard
    this.#reapsAtOnce = reapsAtOnce
    this.view = new Changes(view)
    this.call = { now, newIno, view: this.view, who: superuser }
  }

  /** For one that may have lost its last name. */
  reapUnused(ino: Ino): void {
    if (this.#reapsAtOnce && this.view.inode(ino)?.nlink === 0) this.push({ type: 'reap', ino })
  }

  /** Refuses also what makes the change too large for one batch: at once, not when all of it has been decided. */
  push(wanted: Op): void {
    const op = this.#afterLastChange(wanted)
    this.#guard?.(this.view, op)
    applyNewOp(this.view, op)
    this.#bytes += encodedBytes(op, this.call.now)
    if (this.#bytes > batchBytesMax) throw changeTooLarge()
    this.ops.push(op)
  }

  /**
   * The previous writer of the file may have a clock ahead of ours, and one tag must not mean two
   * contents.
   */
  #afterLastChange(op: Op): Op {
    if (!('time' in op && 'ino' in op)) return op
    const ctime = this.view.inode(op.ino)?.ctime
    if (!ctime || compareTimes(ctime, op.time) <= 0) return op
    return { ...op, time: timeOf(nanoseconds(ctime) + 1n) }
  }

  resolve(path: ByteString, follow: boolean): Resolved {
    return resolvePath(this.view, path, { who: superuser, follow })
  }

  /** What is there; throws ENOENT. */
  find(path: ByteString, follow = false): { ino: Ino; resolved: Resolved } {
    const resolved = this.resolve(path, follow)
    if (!resolved.dentry) throw new FsError('ENOENT')
    return { ino: resolved.dentry.ino, resolved }
  }

  /** A place for something new, its directories made if wanted. */
  place(path: ByteString, parents: boolean): { parent: Ino; name: Name; resolved: Resolved } {
    if (parents) this.makeParents(path)
    const resolved = this.resolve(path, false)
    if (resolved.name === undefined) throw new FsError('EEXIST')
    return { parent: resolved.parent, name: resolved.name, resolved }
  }

  makeParents(path: ByteString): void {
    let at: Ino = rootIno
    for (const part of path
      .split('/')
      .filter((part) => part !== '')
      .slice(0, -1))
      at = this.#enterOrMake(at, part)
  }

  /** From the directory at hand and not from the root: a path of 1,000 levels would be walked 1,000 times. */
  #enterOrMake(from: Ino, part: ByteString): Ino {
    const { dentry } = resolvePath(this.view, part, { who: superuser, follow: true, from })
    if (dentry?.kind === 'directory') return dentry.ino
    if (dentry) throw new FsError('ENOTDIR')
    const { parent, name } = resolvePath(this.view, part, { who: superuser, follow: false, from })
    if (name === undefined) throw new FsError('EEXIST')
    const op = nameCalls.create(this.call, parent, name, { kind: 'directory', mode: 0o755 })
    this.push(op)
    return op.ino
  }

  /** One that is there, or is reached through a symlink, is fine. */
  makeDirectory(path: ByteString, mode: number): void {
    const { dentry } = this.resolve(path, true)
    if (dentry?.kind === 'directory') return
    if (dentry) throw new FsError('EEXIST')
    const { parent, name } = this.place(path, false)
    this.push(nameCalls.create(this.call, parent, name, { kind: 'directory', mode }))
  }
}
