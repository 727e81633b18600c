import type { ByteString, Grant } from '@cairn/protocol'
import type { Profile } from './classes/profile.ts'
import type { Contact } from './session/contact.ts'
import type { Connect } from './session/wire.ts'
import type { Caches, KernelView } from './kernel/caches.ts'
import type { DurabilityName } from './sync/durability.ts'

export interface MountOptions {
  readonly connect: Connect
  readonly contact: Contact
  readonly workspace: string
  readonly branch: string
  /** A checkpoint to show instead of the branch as it is; wants `readOnly`. */
  readonly at?: string | undefined
  /** The directory of the workspace that is mounted. */
  readonly path: ByteString
  readonly readOnly: boolean
  /** What the token allows that it connects with; everything unless given. */
  readonly grant?: Grant | undefined
  /** Locks hold between mounts that have this. */
  readonly sharedLocks?: boolean
  readonly durability: DurabilityName
  /** Which directories' changes wait; none unless given. */
  readonly profile?: Profile | undefined
  /** This mount's own, on a local disk. */
  readonly cacheDirectory: string
  readonly cacheBytes: number
  /** For what is known of the tree. What programs use is known all the same. */
  readonly memoryBytes: number
  /** The server runs on the same machine. */
  readonly isServerHere?: boolean
  /** Whose files appear as root's, and root's as theirs. */
  readonly uid: number | undefined
  readonly gid: number | undefined
  /** Hears when the server takes access away, and when it gives access back. */
  readonly onAccess?: (isAllowed: boolean) => void
  /** Where processes say which tool call they are part of: a directory like /proc. None are asked unless given. */
  readonly processes?: string | undefined
  /** What the kernel remembers, by its numbers. */
  readonly caches: (kernel: KernelView) => Caches
}
