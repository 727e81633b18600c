import type { Op, Time } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import type { Classes } from '../classes/classes.ts'
import type { Contents } from '../data/contents.ts'
import type { Image } from '../image/image.ts'
import type { Loader } from '../image/loader.ts'
import type { SharedLocks } from '../locks/shared-locks.ts'
import type { BlockCounts } from '../sync/block-counts.ts'
import type { Durability } from '../sync/durability.ts'
import type { Caches } from '../kernel/caches.ts'
import type { Contested } from '../kernel/contested.ts'
import type { InodeNumbers } from '../sync/inode-numbers.ts'
import type { QuotaRoom } from '../outbox/quota-room.ts'
import type { SharingClient } from '../sync/sharing.ts'
import type { Contact } from '../session/contact.ts'
import type { MountWriter } from '../sync/writer.ts'
import type { ToolCalls } from '../tool-calls/tool-calls.ts'
import type { KernelNodes } from '../kernel/nodes.ts'
import type { Owners } from '../kernel/owners.ts'

/** What answers of a mounted workspace are made of. */
export interface MountedParts {
  readonly image: Image
  readonly contents: Contents
  readonly blocks: BlockCounts
  readonly loader: Loader
  readonly nodes: KernelNodes
  readonly writer: MountWriter
  readonly contact: Contact
  readonly sharing: SharingClient
  /** Directories whose names the kernel must not remember. */
  readonly contested: Pick<Contested, 'has'>
  readonly classes: Classes
  readonly room: QuotaRoom
  readonly numbers: InodeNumbers
  readonly now: () => Time
  readonly owners: Owners
  readonly toolCalls: ToolCalls
  readonly caches: Caches
  /** Where the server has data, or a hole. */
  readonly askSeek: (ino: Ino, offset: number, hole: boolean) => Promise<number>
  /** What a daemon before this one did for that request of the kernel, if it did. */
  readonly findDone: (request: number) => Promise<Op | undefined>
  /** What waits for the server. */
  readonly waits: Durability['waits']
  /** Set where locks hold between mounts. Without them the kernel keeps them inside of this one. */
  readonly locks: SharedLocks | undefined
}
