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
    entry: (parent, name: Name) => notifier.invalidateEntry(nodeid(parent), name),
    // Older kernels can only drop a name, and then `getcwd` fails in a directory of that name until it is looked up again.
    expire: (parent, name) =>
      notifier.canExpire
        ? notifier.expireEntry(nodeid(parent), name)
        : notifier.invalidateEntry(nodeid(parent), name),
    telling: () => notifier.writing(),
    settled: () => notifier.settled(),
  }
}
