import { dataCalls, EntryPages, Misses, nameCalls, type NamedDentry, type Steps } from '@cairn/core'
import { type ByteString, FsError, type Ino, type Name } from '@cairn/protocol'
import type { TreeEdit } from './tree-edit.ts'

// Both walks keep their own stack: a tree may be deeper than the stack of calls.

/** Removes a file, an empty directory or, if wanted, everything below one. */
export function* remove(edit: TreeEdit, path: ByteString, recursive: boolean): Steps<void> {
  const { resolved } = edit.find(path)
  if (resolved.name === undefined) throw new FsError('EBUSY')
  const { kind, ino } = resolved.dentry!
  if (kind === 'directory' && recursive) yield* clear(edit, ino)
  removeEntry(edit, resolved.parent, { name: resolved.name, kind, ino })
}

interface Cleared {
  readonly entries: EntryPages
  /** What is removed once it is empty; undefined for the directory that is only cleared. */
  readonly self?: { readonly parent: Ino; readonly entry: NamedDentry }
}

function* clear(edit: TreeEdit, directory: Ino): Steps<void> {
  const levels: Cleared[] = [{ entries: new EntryPages(edit.view, directory) }]
  const misses = new Misses()
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    try {
      clearNext(edit, levels, level)
    } catch (error) {
      misses.note(error)
    }
    yield
  }
  misses.end()
}

function clearNext(edit: TreeEdit, levels: Cleared[], { entries, self }: Cleared): void {
  const entry = entries.next()
  if (!entry) {
    levels.pop()
    if (self) removeEntry(edit, self.parent, self.entry)
  } else if (entry.kind === 'directory') {
    const below = new EntryPages(edit.view, entry.ino)
    levels.push({ entries: below, self: { parent: entries.ino, entry } })
  } else removeEntry(edit, entries.ino, entry)
}

function removeEntry(edit: TreeEdit, parent: Ino, { name, kind, ino }: NamedDentry): void {
  const take = kind === 'directory' ? nameCalls.rmdir : nameCalls.unlink
  edit.push(take(edit.call, parent, name))
  edit.reapUnused(ino)
}

/** Copies by reference: a tree of any size is copied without reading a byte of it. */
export function* copy(
  edit: TreeEdit,
  path: ByteString,
  to: ByteString,
  parents: boolean,
): Steps<void> {
  const { ino } = edit.find(path)
  const place = edit.place(to, parents)
  if (place.resolved.dentry) throw new FsError('EEXIST')
  const top = copyOne(edit, ino, place.parent, place.name)
  if (edit.view.inode(ino)!.kind === 'directory') yield* copyEntries(edit, ino, top)
}

/** A directory may be copied to somewhere below itself. The copy, which is `top`, has no copy of itself. */
function* copyEntries(edit: TreeEdit, directory: Ino, top: Ino): Steps<void> {
  const levels = [{ entries: new EntryPages(edit.view, directory), into: top }]
  const misses = new Misses()
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    try {
      const entry = level.entries.next()
      if (!entry) levels.pop()
      else if (entry.ino !== top) {
        const into = copyOne(edit, entry.ino, level.into, entry.name)
        if (entry.kind === 'directory')
          levels.push({ entries: new EntryPages(edit.view, entry.ino), into })
      }
    } catch (error) {
      misses.note(error)
    }
    yield
  }
  misses.end()
}

/** Copies a directory without its entries. Returns the number of the copy. */
function copyOne(edit: TreeEdit, from: Ino, parent: Ino, name: Name): Ino {
  const inode = edit.view.inode(from)!
  const { kind, mode, rdev, target, size: length } = inode
  const made = { kind, mode, rdev, ...(target ? { target } : {}) }
  const op = nameCalls.create(edit.call, parent, name, made)
  edit.push(op)
  const range = { from, fromOffset: 0, ino: op.ino, offset: 0, length }
  if (kind === 'file' && length > 0) edit.push(dataCalls.copy(edit.call, range))
  return op.ino
}
