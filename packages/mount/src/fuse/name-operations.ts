import { FsError } from '@cairn/protocol'
import type { Entry } from './file-system.ts'
import {
  after,
  type AnyOperation,
  type OperationContext,
  type Operation,
  type ChangedNode,
} from './operation.ts'
import { opcode } from './opcodes.ts'
import type { Reply } from './reply.ts'
import type { Request } from './request.ts'

/** Keeps pages from one open to the next: what changed elsewhere is invalidated by notification. */
export const keepCache = 2
export const directIo = 1
const access = { mask: 3, writeOnly: 1, exclusive: 0o200 } as const

const permissionBits = 0o7777

/** RENAME_NOREPLACE is 1; both at once make no sense. */
const exchange = 2

function writeEntry(reply: Reply, entry: Entry): void {
  reply.entry(entry)
}

function forgetEntry({ fs }: OperationContext, entry: Entry | undefined): void {
  if (entry !== undefined) fs.forget(entry.nodeid, 1)
}

function touchesLastName(offset: number): (request: Request) => readonly ChangedNode[] {
  return (request) => [{ nodeid: request.nodeid, name: request.lastName(offset) }]
}

const lookup: Operation<Entry | undefined> = {
  name: 'LOOKUP',
  call: ({ fs }, request) => fs.lookup(request.nodeid, request.lastName(40), request.caller),
  write(reply, entry, context) {
    if (entry === undefined) reply.noEntry(context.negativeTtl)
    else reply.entry(entry)
  },
  undo: forgetEntry,
}

const mknod: Operation<Entry> = {
  name: 'MKNOD',
  call: ({ fs }, request) =>
    fs.mknod(
      request.nodeid,
      request.lastName(56),
      request.u32(40),
      request.u32(44),
      request.caller,
    ),
  write: writeEntry,
  undo: forgetEntry,
  touches: touchesLastName(56),
}

const mkdir: Operation<Entry> = {
  name: 'MKDIR',
  call: ({ fs }, request) =>
    fs.mkdir(
      request.nodeid,
      request.lastName(48),
      request.u32(40) & permissionBits,
      request.caller,
    ),
  write: writeEntry,
  undo: forgetEntry,
  touches: touchesLastName(48),
}

interface Created {
  readonly entry: Entry
  readonly openFlags: number
}

/**
 * What a program writes and does not read goes past the kernel's pages. Filling them has its price: one more request
 * (GETXATTR) before the first write to a file, two requests for a write across a page that is not known whole, and a
 * read for each such page later: with git's packs, 22k of the 60k requests of a clone.
 */
function openFlagsFor({ writesDirectly }: OperationContext, flags: number): number {
  const isWriteOnly = (flags & access.mask) === access.writeOnly
  // A program that creates a file exclusively has something to write: a temporary file.
  const isForWriting = isWriteOnly || (flags & access.exclusive) !== 0
  return writesDirectly && isForWriting ? directIo | keepCache : keepCache
}

const create: Operation<Created> = {
  name: 'CREATE',
  call(context, request) {
    const flags = request.u32(40)
    const openFlags = openFlagsFor(context, flags)
    const mode = request.u32(44) & permissionBits
    const { nodeid, caller } = request
    const made = context.fs.create(nodeid, request.lastName(56), mode, flags, caller)
    return after(made, (entry) => ({ entry, openFlags }))
  },
  write(reply, { entry, openFlags }) {
    reply.entry(entry)
    reply.u64(0)
    reply.u32(openFlags)
    reply.u32(0)
  },
  undo: (context, { entry }) => forgetEntry(context, entry),
  touches: touchesLastName(56),
}

const symlink: Operation<Entry> = {
  name: 'SYMLINK',
  call({ fs }, request) {
    const end = request.endOfName(40)
    const target = request.view(end + 1, request.length - end - 2)
    return fs.symlink(request.nodeid, request.name(40, end), target, request.caller)
  },
  write: writeEntry,
  undo: forgetEntry,
  touches: (request) => [{ nodeid: request.nodeid, name: request.name(40, request.endOfName(40)) }],
}

const link: Operation<Entry> = {
  name: 'LINK',
  call: ({ fs }, request) =>
    fs.link(request.u64(40), request.nodeid, request.lastName(48), request.caller),
  write: writeEntry,
  undo: forgetEntry,
  touches: (request) => [...touchesLastName(48)(request), { nodeid: request.u64(40) }],
}

const unlink: Operation<void> = {
  name: 'UNLINK',
  call: ({ fs }, request) => fs.unlink(request.nodeid, request.lastName(40), request.caller),
  touches: touchesLastName(40),
}

const rmdir: Operation<void> = {
  name: 'RMDIR',
  call: ({ fs }, request) => fs.rmdir(request.nodeid, request.lastName(40), request.caller),
  touches: touchesLastName(40),
}

function makeRename(name: string, namesAt: number, flagsAt?: number): Operation<void> {
  return {
    name,
    call({ fs }, request) {
      const end = request.endOfName(namesAt)
      const flags = flagsAt === undefined ? 0 : request.u32(flagsAt)
      if (flags > exchange) throw new FsError('EINVAL')
      return fs.rename(
        request.nodeid,
        request.name(namesAt, end),
        request.u64(40),
        request.lastName(end + 1),
        flags,
        request.caller,
      )
    },
    touches(request) {
      const end = request.endOfName(namesAt)
      return [
        { nodeid: request.nodeid, name: request.name(namesAt, end) },
        { nodeid: request.u64(40), name: request.lastName(end + 1) },
      ]
    },
  }
}

export const nameOperations: Readonly<Record<number, AnyOperation>> = {
  [opcode.lookup]: lookup,
  [opcode.mknod]: mknod,
  [opcode.mkdir]: mkdir,
  [opcode.create]: create,
  [opcode.symlink]: symlink,
  [opcode.link]: link,
  [opcode.unlink]: unlink,
  [opcode.rmdir]: rmdir,
  [opcode.rename]: makeRename('RENAME', 48),
  [opcode.rename2]: makeRename('RENAME2', 56, 48),
}
