import type { ByteString, Ino, Name } from '@cairn/protocol'
import type { Notifier } from '../fuse/notifier.ts'
import { type Caches, type KernelView, settledSoon } from '../kernel/caches.ts'
import { toTheEnd } from '../kernel/touched.ts'

/**
 * Both write to one kernel, each in its own thread and order. To forget a name the kernel waits for what programs do in that
 * directory; what it is to forget of a file must not wait behind that.
 */
interface Notifiers {
  /** For names and directories. */
  readonly names: Notifier
  readonly files: Notifier
}

/** No file has it. The kernel looks for the name all the same, under the lock that it holds while it looks up a name. */
const noName = '/' as ByteString

/** Tells the kernel what to forget. */
export function notifyingCaches(
  { names, files }: Notifiers,
  { nodeid, isFile }: KernelView,
): Caches {
  const of = (ino: Ino): Notifier => (isFile(ino) ? files : names)
  /** The files whose bytes the kernel was told to forget, and up to which notification there is more about them. */
  const forgetting = new Map<Ino, number>()
  const note = (ino: Ino): void => {
    if (!isFile(ino)) return
    if (files.hasWritten(files.posted - 1)) forgetting.clear()
    forgetting.set(ino, files.posted)
  }
  const caches: Caches = {
    attributes(ino) {
      of(ino).invalidateAttributes(nodeid(ino))
      if (caches.isForgetting(ino)) note(ino)
    },
    bytes(ino, offset, length) {
      of(ino).invalidateInode(nodeid(ino), offset, offset + length >= toTheEnd ? 0 : length)
      note(ino)
    },
    isForgetting(ino) {
      const posted = forgetting.get(ino)
      if (posted === undefined) return false
      if (files.hasWritten(posted)) forgetting.delete(ino)
      return forgetting.has(ino)
    },
    async forgotten(ino) {
      const posted = forgetting.get(ino)
      await settledSoon(caches.filesSettled())
      // Written or not: the kernel may be waiting for the answer to let go of the page.
      if (forgetting.get(ino) === posted) forgetting.delete(ino)
    },
    grown(ino, size, lastByte) {
      files.store(nodeid(ino), size - 1, lastByte)
      // A program may have written there meanwhile, and this byte is older.
      files.invalidateInode(nodeid(ino), size - 1, 1)
      note(ino)
    },
    entry: (parent, name: Name) => names.invalidateEntry(nodeid(parent), name),
    lookedUp(parent, ino) {
      names.invalidateEntry(nodeid(parent), noName)
      names.invalidateAttributes(nodeid(ino))
    },
    // Older kernels can only drop a name, and then `getcwd` fails in a directory of that name until it is looked up again.
    expire: (parent, name) =>
      names.canExpire
        ? names.expireEntry(nodeid(parent), name)
        : names.invalidateEntry(nodeid(parent), name),
    canExpire: () => names.canExpire,
    telling: async () => void (await Promise.all([names.writing(), files.writing()])),
    settled: async () => void (await Promise.all([names.settled(), files.settled()])),
    filesSettled: () => files.settled(),
  }
  return caches
}
