import { readFileSync } from 'node:fs'
import {
  type Call,
  type FallocateMode,
  type Inode,
  modeBits,
  type PrivilegeDrop,
  type RenameMode,
  type SetattrOp,
  type Time,
  type View,
  withoutPrivileges,
  type XattrMode,
} from '@cairn/core'
import { type ByteString, FsError, type Ino } from '@cairn/protocol'
import type { AttributeChange, KernelCaller } from '../fuse/file-system.ts'

/** What the flags of system calls mean. */

export const openFlags = { exclusive: 0o200, append: 0o2000, sync: 0o4010000 } as const

export function renameModeOf(flags: number): RenameMode {
  if (flags === 0) return 'replace'
  if (flags === 1) return 'noreplace'
  if (flags === 2) return 'exchange'
  throw new FsError('EINVAL')
}

const falloc = { keepSize: 1, punchHole: 2, zeroRange: 16 }

export function fallocateModeOf(flags: number): FallocateMode {
  const keepsSize = (flags & falloc.keepSize) !== 0
  switch (flags & ~falloc.keepSize) {
    case 0:
      return keepsSize ? 'allocate-keep-size' : 'allocate'
    case falloc.punchHole:
      if (keepsSize) return 'punch'
      break
    case falloc.zeroRange:
      return keepsSize ? 'zero-keep-size' : 'zero'
  }
  throw new FsError('EOPNOTSUPP')
}

export function xattrModeOf(flags: number): XattrMode {
  if (flags === 0) return 'set'
  if (flags === 1) return 'create'
  if (flags === 2) return 'replace'
  throw new FsError('EINVAL')
}

const namespaces = ['user.', 'trusted.', 'security.']

/** Others are not kept. */
export function requireNamespace(name: ByteString): void {
  if (!namespaces.some((prefix) => name.startsWith(prefix))) throw new FsError('EOPNOTSUPP')
}

/** Times the log can keep; what lies beyond is as far away as it gets. */
const secMax = 2 ** 50

export function setattrOp(
  ino: Ino,
  inode: Inode,
  change: AttributeChange,
  caller: KernelCaller,
  now: Time,
): SetattrOp {
  const { uid, gid, size } = change
  const mode = change.mode ?? modeAfter(inode, change, privilegeDropOf(inode, caller))
  const atime = timeOf(change.atime, now)
  const mtime = timeOf(change.mtime, now)
  return { type: 'setattr', time: now, ino, mode, uid, gid, size, atime, mtime }
}

function timeOf(time: Time | 'now' | undefined, now: Time): Time | undefined {
  return time === 'now' ? now : time && clamp(time)
}

/** Set-id bits do not survive a change of the owner, nor a truncation by an unprivileged user. */
function modeAfter(inode: Inode, change: AttributeChange, drop: PrivilegeDrop): number | undefined {
  if (inode.kind === 'directory') return undefined
  const drops = isChown(change) ? drop || 'member' : change.killPrivileges && drop
  const mode = withoutPrivileges(inode.mode, drops)
  return mode === inode.mode ? undefined : mode
}

/** A change of nothing is a chown to no user and no group. */
function isChown({ uid, gid, mode, size, atime, mtime }: AttributeChange): boolean {
  if (uid !== undefined || gid !== undefined) return true
  return mode === undefined && size === undefined && atime === undefined && mtime === undefined
}

/**
 * Which set-id bits a user's change takes off. The user's groups are read only where it depends on
 * them: where a file has set-group-id and no group-execute.
 */
export function privilegeDropOf(inode: Inode, { uid, gid, pid }: KernelCaller): PrivilegeDrop {
  if (uid === 0 || (inode.mode & (modeBits.setuid | modeBits.setgid)) === 0) return false
  const depends = (inode.mode & (modeBits.setgid | modeBits.groupExecute)) === modeBits.setgid
  if (!depends || inode.gid === gid || groupsOf(pid).includes(inode.gid)) return 'member'
  return 'stranger'
}

/** The supplementary groups of a process; none when it is gone. */
function groupsOf(pid: number): readonly number[] {
  try {
    const groups = /^Groups:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return (groups ?? '').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function clamp(time: Time): Time {
  if (Math.abs(time.sec) <= secMax) return time
  return { sec: Math.sign(time.sec) * secMax, nsec: 0 }
}

/** A call by a user whom the kernel has already checked. It makes no file. */
export function callOf(view: View, now: Time, uid = 0, gid = 0): Call {
  return { view, who: { uid, gid, groups: [] }, now, newIno: neverMakes }
}

function neverMakes(): never {
  throw new FsError('EINVAL')
}
