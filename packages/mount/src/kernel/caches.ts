import type { Ino, Name } from '@cairn/protocol'

/** What the kernel remembers of the mount, and must forget when others change it. */
export interface Caches {
  attributes(ino: Ino): void
  bytes(ino: Ino, offset: number, length: number): void
  /** The file ends with `lastByte` at this size now. Its pages behind the old end are forgotten already. */
  grown(ino: Ino, size: number, lastByte: number): void
  entry(parent: Ino, name: Name): void
  /** The name may lead elsewhere: it is looked up when it is used next. Programs that are in such a directory stay there. */
  expire(parent: Ino, name: Name): void
  /** Whether `expire` leaves programs where they are. */
  canExpire(): boolean
  /** Resolves once the notifier has started. */
  telling(): Promise<void>
  /** Once the kernel has forgotten everything it was told to. */
  settled(): Promise<void>
}

const patienceMs = 30

/** Like `settled`, for a caller that the kernel may be waiting for while it holds a lock that `settled` needs. */
export function settledSoon(caches: Caches): Promise<void> {
  const patience = new Promise<void>((resolve) => setTimeout(resolve, patienceMs))
  return Promise.race([caches.settled(), patience])
}
