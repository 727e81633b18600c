import type { ByteString, Hash, Ino, Name } from '@cairn/protocol'
import type { Kind } from './inode.ts'
import type { Time } from '../ports/records.ts'

/**
 * One change, with everything that decides its outcome inside: replaying it on the same tree gives the same
 * tree on every machine. Permissions were checked when it was made; they are not asked again.
 */
export type Op =
  | CreateOp
  | LinkOp
  | UnlinkOp
  | RmdirOp
  | RenameOp
  | SetattrOp
  | WriteOp
  | AppendOp
  | FallocateOp
  | CopyOp
  | SetxattrOp
  | RemovexattrOp
  | ReapOp

interface Timed {
  /** What the operation writes into mtime, and into ctime unless that is later already. */
  readonly time: Time
}

export interface CreateOp extends Timed {
  readonly type: 'create'
  readonly parent: Ino
  readonly name: Name
  /** From the creator's range, never used before in the workspace. */
  readonly ino: Ino
  readonly kind: Kind
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly rdev: number
  /** Symlinks only. */
  readonly target: Uint8Array | undefined
}

export interface LinkOp extends Timed {
  readonly type: 'link'
  readonly ino: Ino
  readonly parent: Ino
  readonly name: Name
}

export interface UnlinkOp extends Timed {
  readonly type: 'unlink'
  readonly parent: Ino
  readonly name: Name
}

export interface RmdirOp extends Timed {
  readonly type: 'rmdir'
  readonly parent: Ino
  readonly name: Name
}

export const renameModes = ['replace', 'noreplace', 'exchange'] as const
export type RenameMode = (typeof renameModes)[number]

export interface RenameOp extends Timed {
  readonly type: 'rename'
  readonly parent: Ino
  readonly name: Name
  readonly newParent: Ino
  readonly newName: Name
  readonly mode: RenameMode
}

/** Absent fields stay as they are. A new size is a truncation. */
export interface SetattrOp extends Timed {
  readonly type: 'setattr'
  readonly ino: Ino
  readonly mode?: number | undefined
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  readonly size?: number | undefined
  readonly atime?: Time | undefined
  readonly mtime?: Time | undefined
}

/** Bytes to write: inside the op when they are few, else a range of a blob that is already stored. */
export type Data =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | {
      readonly type: 'blob'
      readonly id: Hash
      readonly blobLength: number
      readonly start: number
      readonly length: number
    }

/**
 * Set-id bits do not survive a write, unless it is the superuser's. What the writer is to the file's group
 * decides about a set-group-id without group-execute: a member's write leaves it, a stranger's does not.
 */
export const privilegeDrops = [false, 'member', 'stranger'] as const
export type PrivilegeDrop = (typeof privilegeDrops)[number]

export interface WriteOp extends Timed {
  readonly type: 'write'
  readonly ino: Ino
  readonly offset: number
  readonly data: Data
  readonly dropPrivileges: PrivilegeDrop
}

/** Writes where the file ends when its turn comes: of two who append at once neither overwrites the other. */
export interface AppendOp extends Timed {
  readonly type: 'append'
  readonly ino: Ino
  readonly data: Data
  readonly dropPrivileges: PrivilegeDrop
}

export const fallocateModes = [
  'allocate',
  'allocate-keep-size',
  'punch',
  'zero',
  'zero-keep-size',
] as const
export type FallocateMode = (typeof fallocateModes)[number]

export interface FallocateOp extends Timed {
  readonly type: 'fallocate'
  readonly ino: Ino
  readonly offset: number
  readonly length: number
  readonly mode: FallocateMode
  readonly dropPrivileges: PrivilegeDrop
}

/** Copies by reference: no byte is read. */
export interface CopyOp extends Timed {
  readonly type: 'copy'
  readonly from: Ino
  readonly fromOffset: number
  readonly ino: Ino
  readonly offset: number
  readonly length: number
  readonly dropPrivileges: PrivilegeDrop
}

export const xattrModes = ['set', 'create', 'replace'] as const
export type XattrMode = (typeof xattrModes)[number]

export interface SetxattrOp extends Timed {
  readonly type: 'setxattr'
  readonly ino: Ino
  readonly name: ByteString
  readonly value: Uint8Array
  readonly mode: XattrMode
}

export interface RemovexattrOp extends Timed {
  readonly type: 'removexattr'
  readonly ino: Ino
  readonly name: ByteString
}

/** No client has the nameless inode open any more: its bytes may be deleted. */
export interface ReapOp {
  readonly type: 'reap'
  readonly ino: Ino
}
