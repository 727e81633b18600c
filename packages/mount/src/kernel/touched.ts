import { dataLength, type Op } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'

/** What an operation invalidates in caches. */
export interface StaleCaches {
  /** Attributes, and of directories the listing. */
  readonly inodes: readonly Ino[]
  readonly names: readonly { readonly parent: Ino; readonly name: Name }[]
  readonly bytes: readonly { readonly ino: Ino; readonly offset: number; readonly length: number }[]
}

/** To the end of the file, wherever that is. */
export const toTheEnd: number = Number.MAX_SAFE_INTEGER

/** `find` gives what a name leads to, as far as it is known: its link count changes, too. */
export function touchedBy(op: Op, find: (parent: Ino, name: Name) => Ino | undefined): StaleCaches {
  const known = (parent: Ino, name: Name): Ino[] => {
    const ino = find(parent, name)
    return ino === undefined ? [] : [ino]
  }
  switch (op.type) {
    case 'create':
      return { inodes: [op.parent], names: [op], bytes: [] }
    case 'link':
      return { inodes: [op.parent, op.ino], names: [op], bytes: [] }
    case 'unlink':
    case 'rmdir':
      return { inodes: [op.parent, ...known(op.parent, op.name)], names: [op], bytes: [] }
    case 'rename': {
      const { parent, name, newParent, newName } = op
      const inodes = [parent, newParent, ...known(parent, name), ...known(newParent, newName)]
      return { inodes, names: [op, { parent: newParent, name: newName }], bytes: [] }
    }
    case 'setattr':
      if (op.size === undefined) return { inodes: [op.ino], names: [], bytes: [] }
      return { inodes: [op.ino], names: [], bytes: [from(op.ino, op.size)] }
    case 'write':
      return { inodes: [op.ino], names: [], bytes: [written(op, dataLength(op.data))] }
    case 'append':
      return { inodes: [op.ino], names: [], bytes: [from(op.ino, 0)] }
    case 'fallocate':
    case 'copy':
      return { inodes: [op.ino], names: [], bytes: [written(op, op.length)] }
    case 'setxattr':
    case 'removexattr':
    case 'reap':
      return { inodes: [op.ino], names: [], bytes: [] }
  }
}

function written(
  { ino, offset }: { readonly ino: Ino; readonly offset: number },
  length: number,
): StaleCaches['bytes'][number] {
  return { ino, offset, length }
}

function from(ino: Ino, offset: number): StaleCaches['bytes'][number] {
  return { ino, offset, length: toTheEnd - offset }
}
