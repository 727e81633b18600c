import { type ByteString, FsError, type Ino } from '@cairn/protocol'
import { O_PATH, O_RDONLY, O_RDWR, O_WRONLY } from '../constants.ts'

export interface Descriptor {
  readonly ino: Ino
  readonly flags: number
  offset: number
  /** Set for a directory: the last name that was listed, `.` and `..` included. */
  listed: ByteString | undefined
  /** Set for a directory: what was listed last at each offset, counted from 1. */
  readonly places: (ByteString | undefined)[]
}

/** The open files of a process. */
export class Descriptors {
  readonly #open = new Map<number, Descriptor>()
  #last = 2

  add(ino: Ino, flags: number): number {
    this.#open.set(++this.#last, { ino, flags, offset: 0, listed: undefined, places: [] })
    return this.#last
  }

  /** Also one that was opened with O_PATH. */
  find(fd: number): Descriptor {
    const descriptor = this.#open.get(fd)
    if (!descriptor) throw new FsError('EBADF')
    return descriptor
  }

  /** One that can be used, for reading or writing if so asked. */
  get(fd: number, use?: 'reading' | 'writing'): Descriptor {
    const descriptor = this.find(fd)
    if ((descriptor.flags & O_PATH) !== 0) throw new FsError('EBADF')
    if (use !== undefined && !isOpenFor(descriptor, use)) throw new FsError('EBADF')
    return descriptor
  }

  remove(fd: number): Descriptor {
    const descriptor = this.find(fd)
    this.#open.delete(fd)
    return descriptor
  }

  isOpen(ino: Ino): boolean {
    return [...this.#open.values()].some((descriptor) => descriptor.ino === ino)
  }

  get numbers(): readonly number[] {
    return [...this.#open.keys()]
  }
}

export function isOpenFor({ flags }: Descriptor, use: 'reading' | 'writing'): boolean {
  const mode = flags & (O_RDONLY | O_WRONLY | O_RDWR)
  return mode === O_RDWR || mode === (use === 'reading' ? O_RDONLY : O_WRONLY)
}
