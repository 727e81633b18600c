import type { Ino, Name } from '@cairn/protocol'

/** How the kernel knows inodes. */
export interface KernelView {
  readonly nodeid: (ino: Ino) => number
  readonly isFile: (ino: Ino) => boolean
}

/** What the kernel remembers of the mount, and must forget when others change it. */
export interface Caches {
  attributes(ino: Ino): void
  bytes(ino: Ino, offset: number, length: number): void
  /** Whether the kernel may still have bytes that it was told to forget. A new size would make it show their old end. */
  isForgetting(ino: Ino): boolean
  /** Resolves once it has none of them, or when that takes too long. */
  forgotten(ino: Ino): Promise<void>
  /** The file ends with `lastByte` at this size now. Its pages behind the old end are forgotten already. */
  grown(ino: Ino, size: number, lastByte: number): void
  entry(parent: Ino, name: Name): void
  /** Once the kernel has taken in the answers to its lookups in that directory, it forgets the inode's attributes. */
  lookedUp(parent: Ino, ino: Ino): void
  /** The name may lead elsewhere: it is looked up when it is used next. Programs that are in such a directory stay there. */
  expire(parent: Ino, name: Name): void
  /** Whether `expire` leaves programs where they are. */
  canExpire(): boolean
  /** Resolves once the threads that tell the kernel have started, as far as there is something to tell. */
  telling(): Promise<void>
  /** Once the kernel has forgotten everything it was told to. */
  settled(): Promise<void>
  /** Once it has forgotten what it was told to of files: attributes and bytes, not names. */
  filesSettled(): Promise<void>
}

const patienceMs = 30
/** Where it most likely waits for nothing, and is merely slow. */
export const longPatienceMs = 1000

/** For a caller that the kernel may be waiting for while it holds a lock that is needed to settle. */
export async function settledSoon(settled: Promise<void>, ms: number = patienceMs): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([settled, late.promise])
  clearTimeout(timer)
}
