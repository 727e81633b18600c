import type { Ino, Name } from '@cairn/protocol'
import type { Notifier } from '../fuse/notifier.ts'
import type { Caches } from '../sync/caches.ts'
import { toTheEnd } from '../sync/touched.ts'

/** Tells the kernel what to forget. */
export function notifyingCaches(notifier: Notifier, nodeid: (ino: Ino) => number): Caches {
  return {
    attributes: (ino) => notifier.invalidateAttributes(nodeid(ino)),
    bytes: (ino, offset, length) =>
      notifier.invalidateInode(nodeid(ino), offset, offset + length >= toTheEnd ? 0 : length),
    entry: (parent, name: Name) => notifier.invalidateEntry(nodeid(parent), name),
    telling: () => notifier.writing(),
    settled: () => notifier.settled(),
  }
}
