import { type Hash, type Ino, type Name, rootIno } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { MemoryStores } from '../../../test/ports.ts'
import { blockBytes, fileBytesMax } from '../../content/block.ts'
import { readFile } from '../read-file.ts'
import { storeNewTree } from '../../history/new-tree.ts'
import { applyOp } from '../apply.ts'
import { Changes } from '../changes.ts'
import type { CopyOp, Data } from '../op.ts'
import { TreeView } from '../tree-view.ts'
import { withoutPrivileges } from './data.ts'

const time = { sec: 0, nsec: 0 }
const file = 2 as Ino
const stores = new MemoryStores()
let tree: Changes

beforeEach(async () => {
  tree = new Changes(new TreeView(stores.nodes, await storeNewTree(stores.nodes)))
  const place = { parent: rootIno, name: 'f' as Name, ino: file }
  const attributes = { mode: 0o644, uid: 0, gid: 0, rdev: 0, target: undefined }
  applyOp(tree, { type: 'create', time, kind: 'file', ...place, ...attributes })
})

function write(offset: number, data: Data): void {
  applyOp(tree, { type: 'write', time, ino: file, offset, data, dropPrivileges: false })
}

function text(content: string): Data {
  return { type: 'bytes', bytes: new TextEncoder().encode(content) }
}

async function content(): Promise<string> {
  const { nodes, blobs } = stores
  return new TextDecoder().decode(await readFile(nodes, blobs, tree, file, tree.inode(file)!))
}

describe('write', () => {
  it('up to the longest file: EFBIG beyond it, and nothing changes', () => {
    expect(() => write(fileBytesMax, text('x'))).toThrow('EFBIG')
    write(fileBytesMax - 1, text('x'))
    expect(tree.inode(file)?.size).toBe(fileBytesMax)
  })

  it('a blob longer than a blob can be: EINVAL', () => {
    const blobLength = blockBytes + 1
    const id = '\0'.repeat(32) as Hash
    expect(() => write(0, { type: 'blob', id, blobLength, start: 0, length: 1 })).toThrow('EINVAL')
  })
})

describe('copy inside one file', () => {
  function copy(range: Pick<CopyOp, 'fromOffset' | 'offset' | 'length'>): void {
    applyOp(tree, { type: 'copy', time, from: file, ino: file, ...range, dropPrivileges: false })
  }

  it('asked for more than there is: what there is decides about overlapping', async () => {
    write(0, text('abcdef'))
    copy({ fromOffset: 4, offset: 1, length: Number.MAX_SAFE_INTEGER })
    expect(await content()).toBe('aefdef')
    expect(() => copy({ fromOffset: 0, offset: 5, length: 100 })).toThrow('EINVAL')
  })

  it('from its end: nothing, though the places would overlap', async () => {
    write(0, text('abc'))
    copy({ fromOffset: 3, offset: 3, length: 1 })
    expect(await content()).toBe('abc')
  })
})

describe('withoutPrivileges', () => {
  it.each([
    [0o6755, false, 0o6755],
    [0o6755, 'member', 0o0755],
    [0o6745, 'member', 0o2745],
    [0o6745, 'stranger', 0o0745],
    [0o1777, 'stranger', 0o1777],
  ] as const)('%o by %s: %o', (mode, drop, left) => {
    expect(withoutPrivileges(mode, drop)).toBe(left)
  })
})
