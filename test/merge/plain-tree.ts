import type { Inode, Snapshot } from '@cairn/core'
import { readTree } from '@cairn/core/testing'
import { toByteString } from '@cairn/protocol'
import type { Played } from './scenario.ts'

/** What a person sees of a file: everything but its number and its times. */
export interface Plain {
  readonly kind: Inode['kind']
  /** Bytes, symlink target or device number. A directory's is empty. */
  readonly content: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** The one attribute that steps set. */
  readonly xattr: string | undefined
}

export const attributes = ['mode', 'uid', 'gid', 'xattr'] as const

/** By path; the root's is empty. */
export type PlainTree = ReadonlyMap<string, Plain>

export async function readPlain(
  played: Pick<Played, 'stores'>,
  snapshot: Snapshot,
): Promise<PlainTree> {
  const tree = new Map<string, Plain>()
  for (const [path, { inode, bytes }] of await readTree(played.stores, snapshot))
    tree.set(path, plainOf(inode, bytes))
  return tree
}

export function plainOf(inode: Inode, bytes: Uint8Array | undefined): Plain {
  const { kind, mode, uid, gid, rdev, target, xattrs } = inode
  const data = bytes ?? target
  const value = xattrs?.get('user.x')
  return {
    kind,
    content: data ? toByteString(data) : rdev > 0 ? `${rdev}` : '',
    mode,
    uid,
    gid,
    xattr: value && toByteString(value),
  }
}

export function samePlain(a: Plain, b: Plain): boolean {
  return a.content === b.content && sameAttributes(a, b)
}

export function sameAttributes(a: Plain, b: Plain): boolean {
  return attributes.every((field) => a[field] === b[field])
}
