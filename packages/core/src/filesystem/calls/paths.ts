import { type ByteString, FsError, type Ino, type Name, parseName } from '@cairn/protocol'
import { may } from '../access.ts'
import type { CreateOp, LinkOp, RenameMode, RenameOp, RmdirOp, SetattrOp, UnlinkOp } from '../op.ts'
import { findRenameEnds, type RenameNames } from '../rules/rename.ts'
import { type PathEnd, resolveExisting, resolveParent, resolvePath } from '../resolve.ts'
import type { Call } from './context.ts'
import * as data from './data.ts'
import * as names from './names.ts'

/**
 * The calls that make or take away names, by path. What a path's end means, a dot or a slash behind the name,
 * differs from call to call. A mount has no use for these: there the kernel walks.
 */

export function create(call: Call, path: ByteString, file: names.NewFile): CreateOp {
  const { parent, name } = placeOfNew(call, path, file.kind === 'directory')
  return names.create(call, parent, name, file)
}

export function link(call: Call, existing: ByteString, path: ByteString): LinkOp {
  const { ino } = resolveExisting(call.view, existing, { who: call.who, follow: false })
  const { parent, name } = placeOfNew(call, path, false)
  return names.link(call, ino, parent, name)
}

interface Named {
  readonly parent: Ino
  readonly name: Name
}

function placeOfNew(call: Call, path: ByteString, takesSlash: boolean): Named {
  const { parent, last, directoryOnly } = resolveParent(call.view, path, call)
  if (isDot(last)) throw new FsError('EEXIST')
  const name = parseName(last)
  const taken = call.view.child(parent, name) !== undefined
  if (directoryOnly && !takesSlash && !taken) throw new FsError('ENOENT')
  return { parent, name }
}

export function unlink(call: Call, path: ByteString): UnlinkOp {
  const { parent, last, directoryOnly } = resolveParent(call.view, path, call)
  if (isDot(last)) throw new FsError('EISDIR')
  const name = parseName(last)
  const { kind } = names.lookup(call, parent, name)
  if (directoryOnly) throw new FsError(kind === 'directory' ? 'EISDIR' : 'ENOTDIR')
  return names.unlink(call, parent, name)
}

export function rmdir(call: Call, path: ByteString): RmdirOp {
  const { parent, last } = resolveParent(call.view, path, call)
  if (last === '.') throw new FsError('EINVAL')
  if (last === '..') throw new FsError('ENOTEMPTY')
  if (last === '') throw new FsError('EBUSY')
  return names.rmdir(call, parent, parseName(last))
}

export function rename(call: Call, from: ByteString, to: ByteString, mode: RenameMode): RenameOp {
  const source = resolveParent(call.view, from, call)
  const target = resolveParent(call.view, to, call)
  if (isDot(source.last)) throw new FsError('EBUSY')
  if (isDot(target.last)) throw new FsError(mode === 'noreplace' ? 'EEXIST' : 'EBUSY')
  const { parent } = source
  const name = parseName(source.last)
  // What is not there counts before a new name that is too long.
  names.lookup(call, parent, name)
  const newName = parseName(target.last)
  const op = { parent, name, newParent: target.parent, newName, mode }
  requireSlashesFit(call, op, source, target)
  return names.rename(call, op)
}

/** A slash asks for a directory: of an exchange behind its own name, else behind either name of the source. */
function requireSlashesFit(call: Call, op: RenameNames, from: PathEnd, to: PathEnd): void {
  const { source, target } = findRenameEnds(call.view, op)
  const meant = op.mode === 'exchange' ? target : source
  const fits =
    (!from.directoryOnly || source.kind === 'directory') &&
    (!to.directoryOnly || meant?.kind === 'directory')
  if (!fits) throw new FsError('ENOTDIR')
}

export interface OpenOptions {
  /** A sum of `may`'s values; 0 for a descriptor that only stands for its file. */
  readonly wanted: number
  /** What to make where there is nothing. The caller has taken its umask off the mode. */
  readonly create?: { readonly mode: number; readonly exclusive: boolean }
  readonly truncate: boolean
  /** Only a directory will do. */
  readonly directory: boolean
  readonly follow: boolean
}

export interface Opening {
  readonly ino: Ino
  /** To be applied before the descriptor is given out. */
  readonly op: CreateOp | SetattrOp | undefined
}

export function open(call: Call, path: ByteString, options: OpenOptions): Opening {
  const { wanted, create: making, truncate } = options
  const resolved = resolvePath(call.view, path, {
    who: call.who,
    follow: options.follow && making?.exclusive !== true,
    create: making !== undefined,
  })
  const { parent, name, dentry } = resolved
  if (!dentry) {
    if (!making || name === undefined) throw new FsError('ENOENT')
    const op = names.create(call, parent, name, { kind: 'file', mode: making.mode })
    return { ino: op.ino, op }
  }
  if (making?.exclusive) throw new FsError('EEXIST')
  if (making && dentry.kind === 'directory') throw new FsError('EISDIR')
  if ((options.directory || resolved.directoryOnly) && dentry.kind !== 'directory')
    throw new FsError('ENOTDIR')
  const { ino } = dentry
  if (wanted === 0) return { ino, op: undefined }
  const { kind } = data.open(call, ino, truncate ? wanted | may.write : wanted)
  return { ino, op: truncate && kind === 'file' ? data.truncateOpen(call, ino, 0) : undefined }
}

function isDot(last: ByteString): boolean {
  return last === '' || last === '.' || last === '..'
}
