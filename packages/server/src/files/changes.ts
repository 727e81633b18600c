import { attributeCalls, type Data, dataCalls, nameCalls, type Time } from '@cairn/core'
import {
  CairnError,
  FsError,
  fromByteString,
  type Ino,
  type ByteString,
  type Tags,
} from '@cairn/protocol'
import { etagOf } from './stat.ts'
import { setTags } from './tags.ts'
import type { TreeEdit } from './tree-edit.ts'

/** What can be asked of a tree by path. Each function adds the operations it takes. */

export interface WriteFileOptions {
  /** Pieces of content; what none covers reads as zeros. */
  readonly pieces: readonly { readonly offset: number; readonly data: Data }[]
  readonly size: number
  readonly mode?: number
  readonly tags?: Tags
  readonly parents: boolean
  readonly ifMatch?: string
  readonly ifAbsent?: boolean
}

/** Gives whether the file is new. */
export function writeFile(edit: TreeEdit, path: ByteString, options: WriteFileOptions): boolean {
  if (options.parents) edit.makeParents(path)
  const { dentry, directoryOnly } = edit.resolve(path, true)
  if (directoryOnly || dentry?.kind === 'directory') throw new FsError('EISDIR')
  requireCondition(edit, dentry?.ino, options)
  const ino = dentry ? cutFile(edit, dentry.ino) : makeFile(edit, path, options.mode ?? 0o644)
  for (const { offset, data } of options.pieces)
    edit.push(dataCalls.write(edit.call, ino, offset, data))
  if (edit.view.inode(ino)!.size < options.size)
    edit.push(dataCalls.truncate(edit.call, ino, options.size))
  if (dentry && options.mode !== undefined)
    edit.push(attributeCalls.chmod(edit.call, ino, options.mode))
  if (options.tags) setTags(edit, ino, options.tags)
  return !dentry
}

function cutFile(edit: TreeEdit, ino: Ino): Ino {
  edit.push(dataCalls.truncate(edit.call, ino, 0))
  return ino
}

/** A dangling symlink is written through, as open(2) does. */
function makeFile(edit: TreeEdit, path: ByteString, mode: number): Ino {
  const { parent, name } = edit.resolve(path, true)
  if (name === undefined) throw new FsError('EISDIR')
  const op = nameCalls.create(edit.call, parent, name, { kind: 'file', mode })
  edit.push(op)
  return op.ino
}

export function patchFile(
  edit: TreeEdit,
  path: ByteString,
  pieces: WriteFileOptions['pieces'],
  ifMatch: string | undefined,
): void {
  const { ino } = edit.find(path, true)
  requireCondition(edit, ino, ifMatch === undefined ? {} : { ifMatch })
  for (const { offset, data } of pieces) edit.push(dataCalls.write(edit.call, ino, offset, data))
}

/** Offsets of the pieces count from the end the file has at that moment. */
export function appendFile(
  edit: TreeEdit,
  path: ByteString,
  options: Pick<WriteFileOptions, 'pieces' | 'parents'>,
): void {
  if (options.parents) edit.makeParents(path)
  const { dentry } = edit.resolve(path, true)
  const ino = dentry?.ino ?? makeFile(edit, path, 0o644)
  const end = edit.view.inode(ino)!.size
  for (const { offset, data } of options.pieces)
    edit.push(dataCalls.write(edit.call, ino, end + offset, data))
}

function requireCondition(
  edit: TreeEdit,
  ino: Ino | undefined,
  { ifMatch, ifAbsent }: Pick<WriteFileOptions, 'ifMatch' | 'ifAbsent'>,
): void {
  const tag = ino === undefined ? undefined : etagOf(ino, edit.view.inode(ino)!)
  const matches =
    ifMatch === undefined || (tag !== undefined && (ifMatch === '*' || ifMatch === tag))
  if (matches && !(ifAbsent && tag !== undefined)) return
  throw new CairnError('precondition_failed', {
    what: 'write',
    reason: `${tag === undefined ? 'there is nothing' : `what is there has the tag ${tag}`}`,
  })
}

export function makeDirectory(
  edit: TreeEdit,
  path: ByteString,
  options: { readonly mode: number; readonly parents: boolean },
): void {
  if (options.parents) {
    edit.makeParents(path)
    return edit.makeDirectory(path, options.mode)
  }
  const { parent, name } = edit.place(path, false)
  edit.push(nameCalls.create(edit.call, parent, name, { kind: 'directory', mode: options.mode }))
}

export function move(
  edit: TreeEdit,
  path: ByteString,
  to: ByteString,
  options: { readonly noReplace: boolean; readonly parents: boolean },
): void {
  const { resolved } = edit.find(path)
  if (resolved.name === undefined) throw new FsError('EBUSY')
  const place = edit.place(to, options.parents)
  edit.push(
    nameCalls.rename(edit.call, {
      parent: resolved.parent,
      name: resolved.name,
      newParent: place.parent,
      newName: place.name,
      mode: options.noReplace ? 'noreplace' : 'replace',
    }),
  )
  if (place.resolved.dentry) edit.reapUnused(place.resolved.dentry.ino)
}

export function changeMode(edit: TreeEdit, path: ByteString, mode: number): void {
  edit.push(attributeCalls.chmod(edit.call, edit.find(path, true).ino, mode))
}

export function touch(edit: TreeEdit, path: ByteString, mtime: Time | undefined): void {
  const { dentry } = edit.resolve(path, true)
  const ino = dentry?.ino ?? makeFile(edit, path, 0o644)
  const op = attributeCalls.utimens(edit.call, ino, mtime ?? 'now', mtime ?? 'now')
  if (op) edit.push(op)
}

export function makeSymlink(
  edit: TreeEdit,
  path: ByteString,
  target: ByteString,
  parents: boolean,
): void {
  const { parent, name } = edit.place(path, parents)
  const file = { kind: 'symlink', mode: 0o777, target: fromByteString(target) } as const
  edit.push(nameCalls.create(edit.call, parent, name, file))
}

/** Makes `to` another name of what is at `path`. */
export function makeLink(edit: TreeEdit, path: ByteString, to: ByteString, parents: boolean): void {
  const { ino } = edit.find(path)
  const { parent, name } = edit.place(to, parents)
  edit.push(nameCalls.link(edit.call, ino, parent, name))
}
