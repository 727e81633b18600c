import type { Ino } from '@cairn/protocol'
import { Contents } from '../data/contents.ts'
import { fetchAtServer } from '../data/fetch-at-server.ts'
import { Fsmonitor } from '../fsmonitor/fsmonitor.ts'
import type { FuseIo } from '../fuse/native.ts'
import { Forgetting } from '../sync/forgetting.ts'
import { Image } from '../image/image.ts'
import { Loader } from '../image/loader.ts'
import { ReadTrace } from '../image/read-trace.ts'
import type { Caches } from '../kernel/caches.ts'
import { Contested } from '../kernel/contested.ts'
import { forgetInKernel } from '../kernel/forget-in-kernel.ts'
import { KernelNodes } from '../kernel/nodes.ts'
import { type Owners, swapOwners } from '../kernel/owners.ts'
import { ToldFile } from '../kernel/told-file.ts'
import { modeOf } from '../session-options-of.ts'
import { BlockCounts } from '../sync/block-counts.ts'
import { SharingClient } from '../sync/sharing.ts'
import type { MountSession } from './mount-session.ts'
import type { Sending } from './sending.ts'

/** What a known inode costs, with its name, its bytes' places, and what V8 leaves uncollected. Measured. */
const inodeBytes = 1536
const guessedEntriesMax = 20_000

/** What is known of the workspace here and in the kernel, and how to load the rest. */
export class Reading {
  readonly image: Image = new Image(() => this.#forgetting.note())
  readonly #forgetting: Forgetting
  readonly contents: Contents
  /** For the next mount of the directory. */
  readonly trace: ReadTrace
  readonly loader: Loader
  readonly blocks: BlockCounts
  /** Which directories may be shown without asking. */
  readonly sharing: SharingClient
  readonly owners: Owners
  readonly nodes: KernelNodes
  readonly caches: Caches
  readonly contested: Contested
  readonly fsmonitor: Fsmonitor
  /** On the disk: what the kernel was told. */
  readonly told: ToldFile

  constructor(session: MountSession, sending: Sending, io: FuseIo) {
    const { outbox, segments, spool } = sending
    const { options, ask } = session
    const { image } = this
    const inodesMax = Math.floor(options.memoryBytes / inodeBytes)
    this.owners = swapOwners(options.uid, options.gid)
    this.told = new ToldFile(options.cacheDirectory, io)
    this.caches = options.caches({
      nodeid: (ino) => this.nodes.nodeid(ino),
      isFile: (ino) => this.nodes.isFile(ino),
    })
    this.contested = new Contested({
      toldNames: (ino) => image.toldNames(ino),
      caches: this.caches,
      nowMs: () => performance.now(),
    })
    this.nodes = new KernelNodes(image, this.owners, this.told, this.contested, this.caches)
    this.sharing = this.#openSharing(session, sending)
    this.loader = this.#openLoader(session, inodesMax)
    this.blocks = this.#openBlocks(session, sending)
    this.trace = new ReadTrace({
      usedDirectories: () => image.usedDirectories(),
      nowMs: () => performance.now(),
    })
    this.fsmonitor = this.#openFsmonitor()
    this.contents = new Contents({
      segments,
      fetch: fetchAtServer(ask),
      whenSettled: (number) => outbox.whenSettled(number),
      keep: (bytes) => spool.keep(bytes),
      onRead: this.trace.note,
    })
    const { contents, loader, nodes, caches, contested } = this
    this.#forgetting = new Forgetting({
      image,
      contents,
      loader,
      nodes,
      caches,
      contested,
      inodesMax,
      isPending: (directory) => sending.isPending(directory),
    })
  }

  #openSharing(
    { options, recovered, position, ask }: MountSession,
    { outbox }: Sending,
  ): SharingClient {
    return new SharingClient({
      image: this.image,
      caches: this.caches,
      isKnown: (ino) => this.nodes.isKnown(ino),
      isNew: (ino) => this.nodes.isNew(ino),
      ask,
      whenReached: (seq) => position.whenReached(seq),
      whenSent: (inos) => outbox.whenSent(inos),
      forgetInKernel: () => this.forgetInKernel(),
      forgetDropped: () => this.nodes.forgetUnknownBytes(this.caches),
      shares: modeOf(options, recovered) === 'share',
    })
  }

  #openLoader({ position, ask }: MountSession, inodesMax: number): Loader {
    return new Loader({
      image: this.image,
      position,
      ask,
      look: (ino) => this.sharing.look(ino),
      forgotten: (ino) => this.caches.forgotten(ino),
      count: (ino) => this.blocks.load(ino),
      beginSupply: () => this.#beginSupply(),
      nowMs: () => performance.now(),
      guessedEntries: Math.min(guessedEntriesMax, inodesMax / 2),
    })
  }

  #openBlocks({ client, position, ask }: MountSession, sending: Sending): BlockCounts {
    return new BlockCounts({
      image: this.image,
      ask,
      position,
      isPending: (directory) => sending.isPending(directory),
      isConnected: () => client.isConnected,
      nowMs: Date.now,
    })
  }

  /** Bytes of files whose attributes are known. */
  #beginSupply(): (ino: Ino, offset: number, bytes: Uint8Array) => void {
    const { image, contents } = this
    const { writesDeleted } = contents
    return (ino, offset, bytes) => {
      const inode = image.knows(ino) ? image.inode(ino) : undefined
      if (inode?.kind === 'file') contents.supply(ino, inode, offset, { bytes, writesDeleted })
    }
  }

  #openFsmonitor(): Fsmonitor {
    return new Fsmonitor({
      image: this.image,
      load: (miss) => this.loader.load(miss),
      caches: this.caches,
      root: () => this.nodes.root,
      isFresh: () => this.sharing.isAllFresh,
      nowMs: () => performance.now(),
    })
  }

  /** The kernel asks again for everything. */
  forgetInKernel(): void {
    forgetInKernel(this.image, this.nodes, this.caches)
  }

  /** Everything is loaded again. */
  reset(): void {
    this.forgetInKernel()
    this.image.clear()
    this.contents.clear()
  }
}
