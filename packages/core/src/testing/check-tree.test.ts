import { compareBytes, fromByteString, type Ino, type Name, rootIno } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { MemoryStores } from '../../test/ports.ts'
import type { Inode, Link } from '../filesystem/inode.ts'
import { blockKey, dentryKey, inodeKey, linkKey } from '../filesystem/keys.ts'
import { TreeView } from '../filesystem/tree-view.ts'
import type { Snapshot } from '../ports/records.ts'
import { encodeBlock, encodeDentry, encodeInode, weighEntry } from '../filesystem/values.ts'
import { storeNewTree } from '../history/new-tree.ts'
import { applyEdits, type Edit } from '../tree/apply.ts'
import { checkTree } from './check-tree.ts'
import { Supply, TreeEditor } from './tree-editor.ts'

const large = new Uint8Array(300_000).fill(1)

/** Numbers as the editor gives them, in this order. */
const [d, e, file, linked, gone] = [2, 3, 4, 5, 6] as [Ino, Ino, Ino, Ino, Ino]

class Fixture {
  readonly stores = new MemoryStores()

  async make(): Promise<Snapshot> {
    const { stores } = this
    const editor = new TreeEditor(stores, await storeNewTree(stores.nodes), new Supply())
    editor.mkdir('d').mkdir('d/e').write('d/file', large)
    editor.write('linked', '1').link('linked', 'd/linked').write('gone', large).remove('gone')
    return editor.fold()
  }

  /** The problems of a tree in which these keys were changed by hand. */
  async problems(
    damage: (view: TreeView) => readonly Edit[],
    tree: keyof Snapshot = 'root',
  ): Promise<readonly string[]> {
    const snapshot = await this.make()
    const { nodes } = this.stores
    const edits = damage(new TreeView(nodes, snapshot)).toSorted((a, b) =>
      compareBytes(a.key, b.key),
    )
    const applied = await applyEdits(nodes, snapshot[tree], edits, weighEntry)
    await nodes.store(applied.created)
    const damaged = { ...snapshot, [tree]: applied.root }
    return (await checkTree(nodes, damaged)).map(({ ino, problem }) => `${ino} ${problem}`)
  }
}

const at = (parent: Ino, name: string): Link => ({ parent, name: name as Name })
const remove = (key: Uint8Array): Edit => ({ key, value: undefined })
const change = (view: TreeView, ino: Ino, fields: Partial<Inode>): Edit => ({
  key: inodeKey(ino),
  value: encodeInode({ ...view.inode(ino)!, ...fields }),
})

describe('check of a tree', () => {
  it('finds nothing in what the rules made', async () => {
    expect(await new Fixture().problems(() => [])).toEqual([])
  })

  const cases: Readonly<Record<string, [damage: (view: TreeView) => Edit[], found: string[]]>> = {
    'an inode without a name': [
      () => [remove(dentryKey(d, 'file'))],
      [
        '2 has 2 entries and counts 3',
        '4 has no name',
        '4 has 0 names and counts 1',
        '4 has 0 names and a home',
      ],
    ],
    'a name without an inode': [() => [remove(inodeKey(e))], ['3 has the name 2/e, but no inode']],
    'a name that its inode does not know': [
      (view) => [change(view, e, { home: at(rootIno, 'e') })],
      ['3 is at 2/e, and says 1/e'],
    ],
    'a name of another kind': [
      () => [{ key: dentryKey(d, 'e'), value: encodeDentry({ ino: e, kind: 'file' }) }],
      ['3 is a directory, by name a file', '2 has 0 subdirectories and counts 3 links'],
    ],
    'a name in what is no directory': [
      (view) => [
        change(view, e, { home: at(file, 'e') }),
        remove(dentryKey(d, 'e')),
        { key: dentryKey(file, 'e'), value: encodeDentry({ ino: e, kind: 'directory' }) },
      ],
      [
        "4 holds 'e', but is no directory",
        '2 has 2 entries and counts 3',
        '2 has 0 subdirectories and counts 3 links',
      ],
    ],
    'a wrong number of names': [
      (view) => [change(view, linked, { nlink: 3 })],
      ['5 has 2 names and counts 3'],
    ],
    'a link key too few': [
      () => [remove(linkKey(linked, at(rootIno, 'linked')))],
      ['5 has names 1/linked 2/linked and links 2/linked'],
    ],
    'a link key of what has one name': [
      () => [{ key: linkKey(file, at(d, 'file')), value: new Uint8Array() }],
      ['4 has names  and links 2/file'],
    ],
    'a link key of nothing': [
      () => [{ key: linkKey(99 as Ino, at(d, 'x')), value: new Uint8Array() }],
      ['99 has a link, but no inode'],
    ],
    'a wrong number of entries': [
      (view) => [change(view, d, { size: 9 })],
      ['2 has 3 entries and counts 9'],
    ],
    'a wrong number of subdirectories': [
      (view) => [change(view, d, { nlink: 2 })],
      ['2 has 1 subdirectories and counts 2 links'],
    ],
    'a block of nothing': [
      () => [
        {
          key: blockKey(99 as Ino, 1),
          value: encodeBlock({ type: 'inline', bytes: new Uint8Array([1]) }),
        },
      ],
      ['99 has block 1, but is no file'],
    ],
    'a block behind the end': [
      () => [
        {
          key: blockKey(file, 2),
          value: encodeBlock({ type: 'inline', bytes: new Uint8Array([1]) }),
        },
      ],
      ['4 block 2 lies behind its end', '4 has 300001 bytes in blocks and counts 300000'],
    ],
    'a block too few': [
      () => [remove(blockKey(file, 1))],
      ['4 has 262144 bytes in blocks and counts 300000'],
    ],
    'no root': [
      () => [remove(inodeKey(rootIno))],
      [
        "1 holds 'd', but is no directory",
        "1 holds 'linked', but is no directory",
        '1 there is no root',
      ],
    ],
    'directories in a circle': [
      (view) => [
        change(view, d, { home: at(e, 'd'), size: 3 }),
        change(view, e, { nlink: 3, size: 1 }),
        change(view, rootIno, { nlink: 2, size: 1 }),
        remove(dentryKey(rootIno, 'd')),
        { key: dentryKey(e, 'd'), value: encodeDentry({ ino: d, kind: 'directory' }) },
      ],
      ['2 cannot be reached from the root', '3 cannot be reached from the root'],
    ],
  }
  for (const [what, [damage, found]] of Object.entries(cases))
    it(`finds ${what}`, async () => {
      expect(await new Fixture().problems(damage)).toEqual(found)
    })

  it('finds what is nameless and has a name, and blocks of what is gone', async () => {
    const fixture = new Fixture()
    const named = (view: TreeView): Edit[] => [
      { key: inodeKey(file), value: encodeInode(view.inode(file)!) },
    ]
    expect(await fixture.problems(named, 'orphans')).toEqual([
      '4 has a name among the nameless',
      '4 is both in the tree and nameless',
      '4 has 262144 bytes in blocks and counts 300000',
    ])
    expect(await fixture.problems(() => [remove(inodeKey(gone))], 'orphans')).toEqual([
      '6 has block 1, but is no file',
    ])
  })

  it('finds sums that inner nodes have wrong', async () => {
    const { nodes } = new Fixture().stores
    const snapshot = await storeNewTree(nodes)
    const edits = Array.from({ length: 300 }, (_, n) => ({
      key: blockKey((n + 2) as Ino, 1),
      value: encodeBlock({ type: 'inline', bytes: fromByteString('x') }),
    }))
    const applied = await applyEdits(nodes, snapshot.root, edits, () => 1)
    await nodes.store(applied.created)
    const problems = await checkTree(nodes, { ...snapshot, root: applied.root })
    expect(problems.at(-1)).toEqual({ ino: 1, problem: 'the tree sums up 301 bytes, not 0' })
  })
})
