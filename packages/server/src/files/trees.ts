import { dataCalls, nameCalls, type NamedDentry, takeSteps } from '@cairn/core'
import { type ByteString, FsError, type Ino, type Name } from '@cairn/protocol'
import type { TreeEdit } from './tree-edit.ts'

/** Removes a file, an empty directory or, if wanted, everything below one. Nobody has it open here, so it is reaped. */
export function remove(edit: TreeEdit, path: ByteString, recursive: boolean): void {
  const { resolved } = edit.find(path)
  if (resolved.name === undefined) throw new FsError('EBUSY')
  const { kind, ino } = resolved.dentry!
  if (kind === 'directory' && recursive) clear(edit, ino)
  removeEntry(edit, resolved.parent, { name: resolved.name, kind, ino })
}

function clear(edit: TreeEdit, directory: Ino): void {
  takeSteps(edit.view.entries(directory, undefined, Infinity), (entry) => {
    if (entry.kind === 'directory') clear(edit, entry.ino)
    removeEntry(edit, directory, entry)
  })
}

function removeEntry(edit: TreeEdit, parent: Ino, { name, kind, ino }: NamedDentry): void {
  const take = kind === 'directory' ? nameCalls.rmdir : nameCalls.unlink
  edit.push(take(edit.call, parent, name))
  if (edit.view.inode(ino)?.nlink === 0) edit.push({ type: 'reap', ino })
}

/** Copies by reference: a tree of any size is copied without reading a byte of it. */
export function copy(edit: TreeEdit, path: ByteString, to: ByteString, parents: boolean): void {
  const { ino } = edit.find(path)
  const place = edit.place(to, parents)
  if (place.resolved.dentry) throw new FsError('EEXIST')
  copyInto(edit, ino, place.parent, place.name)
}

/** A directory may be copied to somewhere below itself. The copy, whose top is `copied`, has no copy of itself. */
function copyInto(edit: TreeEdit, ino: Ino, parent: Ino, name: Name, copied?: Ino): void {
  const inode = edit.view.inode(ino)!
  const entries = inode.kind === 'directory' ? edit.view.entries(ino, undefined, Infinity) : []
  const { kind, mode, rdev, target } = inode
  const op = nameCalls.create(edit.call, parent, name, {
    kind,
    mode,
    rdev,
    ...(target ? { target } : {}),
  })
  edit.push(op)
  if (kind === 'file' && inode.size > 0)
    edit.push(
      dataCalls.copy(edit.call, {
        from: ino,
        fromOffset: 0,
        ino: op.ino,
        offset: 0,
        length: inode.size,
      }),
    )
  const top = copied ?? op.ino
  takeSteps(entries, (entry) => {
    if (entry.ino !== top) copyInto(edit, entry.ino, op.ino, entry.name, top)
  })
}
