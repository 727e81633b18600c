import type { Ino, Name } from '@cairn/protocol'
import type { Notifier } from '../fuse/notifier.ts'
import type { Caches } from '../kernel/caches.ts'
import { toTheEnd } from '../kernel/touched.ts'

/** Tells the kernel what to forget. */
export function notifyingCaches(notifier: Notifier, nodeid: (ino: Ino) => number): Caches {
  return {
    attributes: (ino) => notifier.invalidateAttributes(nodeid(ino)),
    bytes: (ino, offset, length) =>
      notifier.invalidateInode(nodeid(ino), offset, offset + length >= toTheEnd ? 0 : length),
    grown(ino, size, lastByte) {
      notifier.store(nodeid(ino), size - 1, lastByte)
      // A program may have written there meanwhile, and this byte is older.
      notifier.invalidateInode(nodeid(ino), size - 1, 1)
    },
    entry: (parent, name: Name) => notifier.invalidateEntry(nodeid(parent), name),
    // Older kernels can only drop a name, and then `getcwd` fails in a directory of that name until it is looked up again.
    expire: (parent, name) =>
      notifier.canExpire
        ? notifier.expireEntry(nodeid(parent), name)
        : notifier.invalidateEntry(nodeid(parent), name),
    canExpire: () => notifier.canExpire,
    telling: () => notifier.writing(),
    settled: () => notifier.settled(),
  }
}
