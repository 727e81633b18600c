import type { Profile } from '../classes/profile.ts'
import type { FailureFields } from '@cairn/protocol'
import type { Mounter } from '../fuse/mounting.ts'
import type { DurabilityName } from '../sync/durability.ts'

/** Everything a mount's processes need to know. It comes over a pipe: the key is in no file and no argument list. */
export interface MountConfig {
  readonly mountPoint: string
  readonly server: string
  readonly key: string
  readonly workspace: string
  /** Sessions name it by this, so that a rename does not end them. Without it, by its name. */
  readonly workspaceId?: string | undefined
  readonly branch: string
  /** A checkpoint to show instead of the branch as it is. `branch` is empty where it is found without. */
  readonly at?: string | undefined
  /** The directory of the workspace, as a byte string. */
  readonly path: string
  readonly readOnly: boolean
  readonly allowOther: boolean
  /** flock and fcntl locks hold between mounts; else the kernel keeps them inside of this one. */
  readonly sharedLocks: boolean
  readonly durability: DurabilityName
  /** Which directories' changes wait; none unless given. */
  readonly profile?: Profile | undefined
  /** Processes are asked for their tool call. */
  readonly toolCalls?: boolean | undefined
  /** The directory of this mount alone: its state, log and control socket. */
  readonly directory: string
  /** The directory of this mount alone: data on its way to the server, and fetched data. */
  readonly cacheDirectory: string
  readonly cacheBytes: number
  /** For what is known of the tree. */
  readonly memoryBytes: number
  /** Whose files root's appear as, and back; undefined leaves them as they are. */
  readonly uid: number | undefined
  readonly gid: number | undefined
  /** A dead mount covers the place until this one is there. */
  readonly replacesDead?: boolean | undefined
  /** Mounts for it where this process does not see; `mountPoint` is a path there. */
  readonly mounter?: Mounter | undefined
}

/** What the daemon tells its supervisor. */
export type DaemonMessage =
  /** The kernel's answer to INIT, for a daemon that takes over. */
  | { readonly type: 'init'; readonly info: unknown }
  /** Not usable yet, because of this. */
  | { readonly type: 'waiting'; readonly what: string }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly failure: FailureFields }
  /** Everything is being handed in for an unmount: a supervisor that stands by can load meanwhile. */
  | { readonly type: 'unmounting' }
  /** Unmount: everything has been handed in. */
  | { readonly type: 'unmount' }
  /** It has been unmounted, and this daemon ends. */
  | { readonly type: 'done' }

/** What the supervisor tells a daemon it starts. */
export interface DaemonStart {
  readonly type: 'start'
  readonly config: MountConfig
  /** The daemon before it did INIT; this is what came of it. */
  readonly init: unknown
}

/** Where a daemon has its sockets: the descriptor of /dev/fuse comes before it is told what to do with it. */
export const daemonSockets = { descriptor: 3, channel: 4 } as const

/** What the supervisor tells a running one. */
export type SupervisorMessage =
  | { readonly type: 'stop' }
  /** It could not be unmounted. */
  | { readonly type: 'busy'; readonly failure: FailureFields }
