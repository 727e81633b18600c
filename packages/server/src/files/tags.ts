import { attributeCalls, type Inode } from '@cairn/core'
import {
  type ByteString,
  CairnError,
  fromByteString,
  type Ino,
  toByteString,
  type Tags,
} from '@cairn/protocol'
import { tagsMax } from '@cairn/protocol/routes'
import type { TreeEdit } from './tree-edit.ts'

/**
 * A tag is an extended attribute. So tags are part of the tree: they fork, roll back and merge with it, and mounts read and
 * write them with `getfattr` and `setfattr`.
 */
const tagPrefix = 'user.cairn.tag.'

/** Bounds what a listing shows of one file. A mount can set more; that is an attribute, and no tag. */
const valueBytesMax = 1024

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** In the order of their names; undefined where there are none. */
export function tagsOf({ xattrs }: Inode): Tags | undefined {
  if (!xattrs) return undefined
  const tags: [string, string][] = []
  for (const [attribute, value] of [...xattrs].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (tags.length === tagsMax) break
    if (!attribute.startsWith(tagPrefix) || value.length > valueBytesMax) continue
    const name = textOf(fromByteString(attribute.slice(tagPrefix.length)))
    const text = textOf(value)
    if (name && text !== undefined) tags.push([name, text])
  }
  return tags.length > 0 ? Object.fromEntries(tags) : undefined
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Sets tags, and takes away those that are null. Other tags stay. */
export function changeTags(
  edit: TreeEdit,
  path: ByteString,
  tags: Readonly<Record<string, string | null>>,
): void {
  setTags(edit, edit.find(path, true).ino, tags)
}

export function setTags(
  edit: TreeEdit,
  ino: Ino,
  tags: Readonly<Record<string, string | null>>,
): void {
  for (const [name, value] of Object.entries(tags)) {
    const attribute = tagPrefix + toByteString(Buffer.from(name))
    const isThere = edit.view.inode(ino)!.xattrs?.has(attribute) === true
    if (value !== null)
      edit.push(attributeCalls.setxattr(edit.call, ino, attribute, Buffer.from(value), 'set'))
    else if (isThere) edit.push(attributeCalls.removexattr(edit.call, ino, attribute))
  }
  requireFew(edit, ino)
}

/** More would be stored and not shown. */
function requireFew(edit: TreeEdit, ino: Ino): void {
  const names = [...(edit.view.inode(ino)!.xattrs?.keys() ?? [])]
  const count = names.filter((name) => name.startsWith(tagPrefix)).length
  if (count <= tagsMax) return
  throw new CairnError('invalid_argument', {
    what: 'tag the file',
    reason: `it would have ${count} tags, and ${tagsMax} is the most`,
    hint: 'Remove some of them first.',
    subject: 'tags',
  })
}
