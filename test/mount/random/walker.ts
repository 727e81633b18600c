import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import {
  FALLOC_FL_KEEP_SIZE,
  FALLOC_FL_PUNCH_HOLE,
  FALLOC_FL_ZERO_RANGE,
  RENAME_EXCHANGE,
  RENAME_NOREPLACE,
} from '../../posix/constants.ts'
import { AT_FDCWD, lastErrno, libc } from '../../posix/libc.ts'
import type { Step } from './step.ts'

/** Takes steps in one directory, and says of each what a program would have seen. */
export class Walker {
  readonly #directory: string
  #open: number | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  close(): void {
    if (this.#open !== undefined) fs.closeSync(this.#open)
    this.#open = undefined
  }

  /** What came of it: a value, or the error's name. */
  take(step: Step): unknown {
    try {
      return this.#take(step) ?? 'done'
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? String(error)
    }
  }

  #take(step: Step): unknown {
    const path = join(this.#directory, step.path)
    const other = join(this.#directory, step.other)
    const { offset, length, fill } = step
    const bytes = Buffer.alloc(length, fill)
    switch (step.type) {
      case 'write':
        return fs.writeFileSync(path, bytes)
      case 'append':
        return fs.appendFileSync(path, bytes)
      case 'exclusive':
        return fs.writeFileSync(path, bytes, { flag: 'wx' })
      case 'patch':
        return this.#with(path, (fd) => fs.writeSync(fd, bytes, 0, length, offset))
      case 'read':
        return hash(fs.readFileSync(path))
      case 'truncate':
        return fs.truncateSync(path, offset)
      case 'mkdir':
        return fs.mkdirSync(path)
      case 'rmdir':
        return fs.rmdirSync(path)
      case 'unlink':
        return fs.unlinkSync(path)
      case 'rename':
        return fs.renameSync(path, other)
      case 'exchange':
        return rename(path, other, RENAME_EXCHANGE)
      case 'noreplace':
        return rename(path, other, RENAME_NOREPLACE)
      case 'link':
        return fs.linkSync(path, other)
      case 'symlink':
        return fs.symlinkSync(step.other, path)
      case 'readlink':
        return fs.readlinkSync(path)
      case 'chmod':
        return fs.chmodSync(path, 0o400 + fill)
      case 'utimes':
        return fs.utimesSync(path, fill, offset)
      case 'list':
        return fs.readdirSync(path).sort()
      case 'stat':
        return describe(path)
      case 'xattr':
        return checked(
          libc.lsetxattr(zeroEnded(path), zeroEnded(`user.x${fill % 3}`), bytes, length % 999, 0),
        )
      case 'copy':
        return this.#copy(path, other, step)
      case 'punch':
        return this.#allocate(path, step, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)
      case 'zero':
        return this.#allocate(path, step, FALLOC_FL_ZERO_RANGE)
      case 'allocate':
        return this.#allocate(path, step, fill % 2 === 0 ? 0 : FALLOC_FL_KEEP_SIZE)
      case 'open':
      case 'readOpen':
      case 'writeOpen':
      case 'truncateOpen':
      case 'closeOpen':
        return this.#takeOpen(step, path, bytes)
    }
  }

  /** On a file that stays open, whatever becomes of its name. */
  #takeOpen({ type, offset, length }: Step, path: string, bytes: Buffer): unknown {
    if (type === 'open') {
      this.close()
      this.#open = fs.openSync(path, 'r+')
      return undefined
    }
    const fd = this.#open
    if (fd === undefined) return 'nothing is open'
    if (type === 'closeOpen') return this.close()
    if (type === 'writeOpen') return fs.writeSync(fd, bytes, 0, length, offset)
    if (type === 'truncateOpen') return fs.ftruncateSync(fd, offset)
    const { size, nlink } = fs.fstatSync(fd)
    const whole = Buffer.alloc(size)
    return [size, nlink, fs.readSync(fd, whole, 0, size, 0), hash(whole)]
  }

  #with<T>(path: string, use: (fd: number) => T): T {
    const fd = fs.openSync(path, 'r+')
    try {
      return use(fd)
    } finally {
      fs.closeSync(fd)
    }
  }

  #allocate(path: string, { offset, length }: Step, mode: number): unknown {
    return this.#with(path, (fd) => checked(libc.fallocate(fd, mode, offset, length)))
  }

  #copy(path: string, other: string, { offset, length }: Step): unknown {
    return this.#with(path, (from) =>
      this.#with(other, (to) =>
        checked(
          libc.copyFileRange(
            from,
            BigInt64Array.of(BigInt(offset)),
            to,
            BigInt64Array.of(BigInt(length)),
            length,
            0,
          ),
        ),
      ),
    )
  }
}

/** Every name below, with all that does not depend on the moment or the file system. */
export function describeTree(directory: string, withXattrs = true): string[] {
  const paths = namesBelow(directory, '')
  return paths.sort().map((path) => `${path}: ${describe(join(directory, path), withXattrs)}`)
}

/** Node lists what is behind symlinks, too. */
function namesBelow(directory: string, prefix: string): string[] {
  return fs.readdirSync(join(directory, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = join(prefix, entry.name)
    return entry.isDirectory() ? [path, ...namesBelow(directory, path)] : [path]
  })
}

function describe(path: string, withXattrs = true): string {
  const stat = fs.lstatSync(path)
  const kind = stat.mode >> 12
  const attributes = `${kind} ${(stat.mode & 0o7777).toString(8)} ${stat.nlink}`
  if (stat.isSymbolicLink()) return `${attributes} ${fs.readlinkSync(path)}`
  if (!stat.isFile()) return attributes
  const xattrs = withXattrs ? [0, 1, 2].map((n) => ` ${xattr(path, `user.x${n}`)}`) : []
  return `${attributes} ${stat.size} ${hash(fs.readFileSync(path))}${xattrs.join('')}`
}

function xattr(path: string, name: string): string {
  const buffer = Buffer.alloc(4096)
  const length = libc.lgetxattr(zeroEnded(path), zeroEnded(name), buffer, buffer.length)
  return length < 0 ? lastErrno() : hash(buffer.subarray(0, length))
}

function rename(path: string, other: string, flags: number): number | string {
  return checked(libc.renameat2(AT_FDCWD, zeroEnded(path), AT_FDCWD, zeroEnded(other), flags))
}

export function hash(bytes: Uint8Array): string {
  return `${bytes.length}:${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`
}

function checked(value: number): number | string {
  return value === -1 ? lastErrno() : value
}

function zeroEnded(text: string): Buffer {
  return Buffer.from(`${text}\0`)
}
