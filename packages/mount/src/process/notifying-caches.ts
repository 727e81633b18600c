import type { Ino, Name } from '@cairn/protocol'
import type { Notifier } from '../fuse/notifier.ts'
import { type Caches, settledSoon } from '../kernel/caches.ts'
import { toTheEnd } from '../kernel/touched.ts'

/** Tells the kernel what to forget. */
export function notifyingCaches(notifier: Notifier, nodeid: (ino: Ino) => number): Caches {
  /** Of which inodes the kernel was told to forget bytes, and up to which notification there is more about them. */
  const forgetting = new Map<Ino, number>()
  const note = (ino: Ino): void => {
    if (notifier.hasWritten(notifier.posted - 1)) forgetting.clear()
    forgetting.set(ino, notifier.posted)
  }
  const caches: Caches = {
    attributes(ino) {
      notifier.invalidateAttributes(nodeid(ino))
      if (caches.isForgetting(ino)) note(ino)
    },
    bytes(ino, offset, length) {
      notifier.invalidateInode(nodeid(ino), offset, offset + length >= toTheEnd ? 0 : length)
      note(ino)
    },
    isForgetting(ino) {
      const posted = forgetting.get(ino)
      if (posted === undefined) return false
      if (notifier.hasWritten(posted)) forgetting.delete(ino)
      return forgetting.has(ino)
    },
    async forgotten(ino) {
      const posted = forgetting.get(ino)
      await settledSoon(caches)
      // Written or not: the kernel may be waiting for the answer to let go of the page.
      if (forgetting.get(ino) === posted) forgetting.delete(ino)
    },
    grown(ino, size, lastByte) {
      notifier.store(nodeid(ino), size - 1, lastByte)
      // A program may have written there meanwhile, and this byte is older.
      notifier.invalidateInode(nodeid(ino), size - 1, 1)
      note(ino)
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
  return caches
}
