import {
  attributeCalls,
  type Dentry,
  dataCalls,
  nameCalls,
  type Steps,
  takeSteps,
} from '@cairn/core'
import {
  type ByteString,
  FsError,
  fromByteString,
  type Ino,
  isFsError,
  type Name,
} from '@cairn/protocol'
import type { TreeEdit } from '../files/tree-edit.ts'
import { timeOf } from '../ports/clock.ts'
import { type InodeRuns, runsOf } from './inode-runs.ts'
import { type ArchiveEntry, namesOf } from './receive-archive.ts'

export interface ApplyOptions {
  /** Whether files get the times of the archive. Otherwise all are new. */
  readonly keepTimes: boolean
  /** An errno, with the entry that it is about. */
  readonly onError: (error: FsError, entry: ArchiveEntry) => Error
}

/** Puts entries below the directory at `path`, which is made if it is not there. Gives the inode of each entry. */
export function* applyArchive(
  edit: TreeEdit,
  path: ByteString,
  entries: readonly ArchiveEntry[],
  options: ApplyOptions,
): Steps<InodeRuns> {
  if (path !== '/') {
    edit.makeParents(path)
    edit.makeDirectory(path, 0o755)
  }
  const tree = new ArchiveTree(edit, edit.find(path, true).ino, options.keepTimes)
  const inos: Ino[] = []
  yield* takeSteps(entries, (entry) => {
    try {
      inos.push(tree.put(entry))
    } catch (error) {
      if (isFsError(error)) throw options.onError(error, entry)
      throw error
    }
  })
  // Directories last, children first: what is put into one changes its time.
  if (options.keepTimes)
    yield* takeSteps(entries.toReversed(), (entry) => {
      if (entry.kind === 'directory') tree.setDirectoryTime(entry)
    })
  return runsOf(inos, edit.view)
}

/**
 * The directory an archive goes to. It finds directories by their names alone and never follows a symlink, so that no
 * entry of the archive can lead another one out of the directory.
 */
class ArchiveTree {
  readonly #edit: TreeEdit
  readonly #root: Ino
  readonly #keepTimes: boolean
  readonly #directories = new Map<string, Ino>()

  constructor(edit: TreeEdit, root: Ino, keepTimes: boolean) {
    this.#edit = edit
    this.#root = root
    this.#keepTimes = keepTimes
  }

  put(entry: ArchiveEntry): Ino {
    const name = entry.names.at(-1)
    if (name === undefined) return this.#root
    const parent = this.#enter(entry.names.slice(0, -1))
    const there = this.#edit.view.child(parent, name)
    if (entry.kind === 'directory') return this.#putDirectory(parent, name, there, entry)
    if (there?.kind === 'directory') throw new FsError('EISDIR')
    if (entry.kind === 'file') return this.#putFile(parent, name, there, entry)
    if (entry.kind === 'link') return this.#putLink(parent, name, there, entry)
    return this.#putSymlink(parent, name, there, entry)
  }

  setDirectoryTime({ names, mtimeNs }: ArchiveEntry): void {
    if (names.length > 0) this.#setTime(this.#enter(names), mtimeNs)
  }

  #putDirectory(parent: Ino, name: Name, there: Dentry | undefined, entry: ArchiveEntry): Ino {
    if (there && there.kind !== 'directory') throw new FsError('EEXIST')
    return there?.ino ?? this.#make(parent, name, { kind: 'directory', mode: entry.mode })
  }

  #putFile(parent: Ino, name: Name, there: Dentry | undefined, entry: ArchiveEntry): Ino {
    const edit = this.#edit
    const { mode, pieces, size } = entry
    if (there && there.kind !== 'file') this.#unlink(parent, name, there)
    const isThere = there?.kind === 'file'
    if (isThere) edit.push(dataCalls.truncate(edit.call, there.ino, 0))
    const ino = isThere ? there.ino : this.#make(parent, name, { kind: 'file', mode })
    for (const { offset, data } of pieces) edit.push(dataCalls.write(edit.call, ino, offset, data))
    if (edit.view.inode(ino)!.size < size) edit.push(dataCalls.truncate(edit.call, ino, size))
    if (edit.view.inode(ino)!.mode !== mode) edit.push(attributeCalls.chmod(edit.call, ino, mode))
    this.#setTime(ino, entry.mtimeNs)
    return ino
  }

  #putSymlink(parent: Ino, name: Name, there: Dentry | undefined, entry: ArchiveEntry): Ino {
    const target = fromByteString(entry.target ?? '')
    if (there) this.#unlink(parent, name, there)
    const ino = this.#make(parent, name, { kind: 'symlink', mode: 0o777, target })
    this.#setTime(ino, entry.mtimeNs)
    return ino
  }

  #putLink(parent: Ino, name: Name, there: Dentry | undefined, entry: ArchiveEntry): Ino {
    const names = namesOf(entry.target ?? '')
    const last = names.at(-1)
    const source = last && this.#edit.view.child(this.#enter(names.slice(0, -1)), last)
    if (!source) throw new FsError('ENOENT')
    if (source.ino === there?.ino) return source.ino
    if (there) this.#unlink(parent, name, there)
    this.#edit.push(nameCalls.link(this.#edit.call, source.ino, parent, name))
    return source.ino
  }

  #unlink(parent: Ino, name: Name, { ino }: Dentry): void {
    this.#edit.push(nameCalls.unlink(this.#edit.call, parent, name))
    this.#edit.reapUnused(ino)
  }

  #make(parent: Ino, name: Name, file: Parameters<typeof nameCalls.create>[3]): Ino {
    const op = nameCalls.create(this.#edit.call, parent, name, file)
    this.#edit.push(op)
    return op.ino
  }

  #setTime(ino: Ino, mtimeNs: bigint): void {
    if (!this.#keepTimes) return
    const mtime = timeOf(mtimeNs)
    const op = attributeCalls.utimens(this.#edit.call, ino, 'keep', mtime)
    if (op) this.#edit.push(op)
  }

  /** The directory of these names, made where it is missing. */
  #enter(names: readonly Name[]): Ino {
    if (names.length === 0) return this.#root
    const key = names.join('/')
    const known = this.#directories.get(key)
    if (known !== undefined) return known
    const parent = this.#enter(names.slice(0, -1))
    const name = names.at(-1)!
    const there = this.#edit.view.child(parent, name)
    if (there && there.kind !== 'directory') throw new FsError('ENOTDIR')
    const ino = there?.ino ?? this.#make(parent, name, { kind: 'directory', mode: 0o755 })
    this.#directories.set(key, ino)
    return ino
  }
}
