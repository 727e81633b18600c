import type { Inode } from '@cairn/core'
import { SharingClient, sharingHandlers, type SharingClientParts } from '@cairn/mount'
import type { Ino } from '@cairn/protocol'

type Parts = Pick<SharingClientParts, 'ask' | 'whenReached' | 'whenSent'> & {
  readonly seq: () => number
}

/** Which directories a simulated client may change on its own, and which it may show: as a mount does, without a kernel. */
export class SharedDirectories {
  readonly #sharing: SharingClient
  readonly handlers: ReturnType<typeof sharingHandlers>

  constructor({ seq, ...parts }: Parts) {
    const nothing = (): undefined => undefined
    const caches = {
      attributes: nothing,
      bytes: nothing,
      entry: nothing,
      isForgetting: () => false,
      forgotten: async () => undefined,
      grown: nothing,
      lookedUp: nothing,
      expire: nothing,
      canExpire: () => true,
      telling: async () => undefined,
      settled: async () => undefined,
      filesSettled: async () => undefined,
    }
    const kernel = {
      caches,
      isKnown: () => true,
      isNew: () => false,
      forgetInKernel: nothing,
      forgetDropped: nothing,
    }
    const sharing = new SharingClient({ ...parts, ...kernel, image: tree, shares: true })
    this.#sharing = sharing
    const session = {
      get seq() {
        return seq()
      },
    }
    this.handlers = sharingHandlers(sharing, session)
  }

  isFresh(directory: Ino): boolean {
    return this.#sharing.isFresh(directory)
  }

  holds(directory: Ino): boolean {
    return this.#sharing.isMine(directory)
  }

  /** If not, it claims the directory for the next time. */
  isMine(directory: Ino): boolean {
    if (this.#sharing.isMine(directory)) return true
    this.#sharing.claim([directory]).catch(() => undefined)
    return false
  }

  noteMade(ino: Ino): void {
    this.#sharing.noteMade(ino)
  }

  noteMadeElsewhere(ino: Ino): void {
    this.#sharing.noteMadeElsewhere(ino)
  }

  look(directory: Ino): void {
    this.#sharing.look(directory).catch(() => undefined)
  }
}

/** Whatever is asked about here is a directory. */
const tree = {
  inode: (): Inode => ({ kind: 'directory' }) as Inode,
  links: () => [],
  child: () => undefined,
  blockFrom: () => undefined,
  entries: () => [],
  knowsDirectory: () => true,
  toldNames: function* (): Generator<never> {},
}
