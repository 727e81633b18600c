import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { lastErrno, libc } from '../../posix/libc.ts'

/** A directory of its own for one question, as one mount shows it. */
export class Place {
  readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  path(...names: string[]): string {
    return join(this.directory, ...names)
  }

  /** For calls that Node does not have. */
  bytes(name: string): Buffer {
    return Buffer.from(`${this.path(name)}\0`)
  }

  write(name: string, data: string | Uint8Array): void {
    fs.writeFileSync(this.path(name), data)
  }

  append(name: string, data: string): void {
    fs.appendFileSync(this.path(name), data)
  }

  read(name: string): string {
    return fs.readFileSync(this.path(name), 'latin1')
  }

  stat(name: string): fs.BigIntStats {
    return fs.lstatSync(this.path(name), { bigint: true })
  }

  names(name = '.'): string[] {
    return fs.readdirSync(this.path(name)).sort()
  }

  exists(name: string): boolean {
    return fs.existsSync(this.path(name))
  }

  open(name: string, flags: string | number = 'r'): number {
    return fs.openSync(this.path(name), flags)
  }

  rename(from: string, to: string): void {
    fs.renameSync(this.path(from), this.path(to))
  }

  unlink(name: string): void {
    fs.unlinkSync(this.path(name))
  }

  mkdir(name: string): void {
    fs.mkdirSync(this.path(name))
  }

  truncate(name: string, size: number): void {
    fs.truncateSync(this.path(name), size)
  }

  /** Writes into a file at an offset. */
  patch(name: string, offset: number, data: string | Uint8Array): void {
    const fd = this.open(name, 'r+')
    fs.writeSync(fd, Buffer.from(data as string), 0, undefined, offset)
    fs.closeSync(fd)
  }

  sh(script: string): string {
    return this.#run('/bin/sh', ['-ec', script])
  }

  python(script: string): string {
    return this.#run('python3', ['-c', script])
  }

  #run(file: string, args: readonly string[]): string {
    const stdio = ['ignore', 'pipe', 'pipe'] as const
    return execFileSync(file, args, {
      cwd: this.directory,
      encoding: 'latin1',
      stdio: [...stdio],
      maxBuffer: 64 << 20,
    })
  }
}

/** The text a descriptor reads, from the start. */
export function textOf(fd: number, length = 100): string {
  const buffer = Buffer.alloc(length)
  return buffer.toString('latin1', 0, fs.readSync(fd, buffer, 0, length, 0))
}

/** What a call came to: its name in errno's terms, or `ok`. */
export function outcome(call: () => unknown): string {
  try {
    call()
    return 'ok'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

/** The same for bare calls. */
export function result(value: number): number | string {
  return value === -1 ? lastErrno() : value
}

export function setXattr(place: Place, name: string, attribute: string, value: string): void {
  const bytes = Buffer.from(value)
  result(libc.setxattr(place.bytes(name), Buffer.from(`${attribute}\0`), bytes, bytes.length, 0))
}

export function getXattr(place: Place, name: string, attribute: string): string {
  const buffer = Buffer.alloc(65_536)
  const length = libc.getxattr(place.bytes(name), Buffer.from(`${attribute}\0`), buffer, 65_536)
  return length < 0 ? lastErrno() : buffer.toString('latin1', 0, length)
}

/** Bytes that are the same wherever they are made, and nowhere the same as elsewhere in the file. */
export function pattern(length: number, from = 0): Buffer {
  const bytes = Buffer.alloc(length)
  for (let i = 0; i < length; i++) {
    const at = from + i
    bytes[i] = (at * 31 + (at >>> 8) * 7 + (at >>> 16)) & 0xff
  }
  return bytes
}
