import { describe, expect, it } from 'vitest'
import { type Histories, MergeCase, mergedTree } from '../../test/merge-case.ts'
import type { Snapshot } from '../ports/records.ts'
import { readTree } from '../testing/read-tree.ts'

describe('merge › one side', () => {
  it('nothing changed: the target stays, root and all', async () => {
    const there = await MergeCase.make({ base: (t) => t.write('a', '1') })
    expect(await there.merge()).toEqual({ type: 'merged', snapshot: there.target })
  })

  it('only the target changed: the target stays, root and all', async () => {
    const there = await MergeCase.make({
      base: (t) => t.mkdir('d').write('d/a', '1').write('b', '2').link('b', 'c'),
      target: (t) => t.remove('d').mkdir('d').write('d/x', '3').remove('c').rename('b', 'e'),
    })
    expect(await there.merge()).toEqual({ type: 'merged', snapshot: there.target })
  })

  it('only the layer changed: the target becomes the layer', async () => {
    const there = await MergeCase.make({
      base: (t) => t.mkdir('d').write('d/a', '1').write('b', '2').write('gone', '3'),
      layer: (t) => t.rename('d', 'e').write('e/a', '4').chmod('b', 0o600).remove('gone'),
    })
    // What the layer has open without a name is its own business.
    const { orphans } = there.target
    const snapshot = { root: there.layer.root, orphans }
    expect(await there.merge()).toEqual({ type: 'merged', snapshot })
  })

  it('each side changed other files: both changes are there', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1').write('b', '1').write('c', '1').write('d', '1'),
        layer: (t) => t.write('a', '2').remove('c').write('new', '2'),
        target: (t) => t.write('b', '3').remove('d').write('other', '3'),
      }),
    ).toEqual({ a: '2', b: '3', new: '2', other: '3' })
  })

  it('one side edited a file, the other changed its mode, owner and attributes: all of it', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.write('a', '2').setxattr('a', 'user.layer', 'x'),
        target: (t) => t.chmod('a', 0o600).chown('a', 5, 6).setxattr('a', 'user.target', 'y'),
      }),
    ).toEqual({ a: '2 600 5:6 user.layer=x user.target=y' })
  })

  it('one side removed an attribute, the other added one: both', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1').setxattr('a', 'user.old', 'x').setxattr('a', 'user.k', 'x'),
        layer: (t) => t.removexattr('a', 'user.old'),
        target: (t) => t.setxattr('a', 'user.new', 'y'),
      }),
    ).toEqual({ a: '1 user.k=x user.new=y' })
  })

  it('one side touched a file, the other deleted it: deleted, times never conflict', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.touch('a'),
        target: (t) => t.remove('a'),
      }),
    ).toEqual({})
  })

  it('both touched a file: the later time stays', async () => {
    const there = await MergeCase.make({
      base: (t) => t.write('a', '1'),
      layer: (t) => t.touch('a'),
      target: (t) => t.touch('a'),
    })
    expect(await there.merge()).toEqual({ type: 'merged', snapshot: there.target })
    expect(await there.swapped().merge()).toEqual({ type: 'merged', snapshot: there.target })
  })
})

describe('merge › equal changes on both sides are no conflict', () => {
  const cases: Readonly<Record<string, [base: Histories['base'], change: Histories['base']]>> = {
    'the same bytes': [(t) => t.write('a', '1'), (t) => t.write('a', '2')],
    'the same new file': [() => {}, (t) => t.write('a', '2')],
    'the same delete': [(t) => t.write('a', '1'), (t) => t.remove('a')],
    'the same delete of a directory': [
      (t) => t.mkdir('d').write('d/a', '1').mkdir('d/e').write('d/e/b', '1'),
      (t) => t.remove('d'),
    ],
    'the same rename': [(t) => t.write('a', '1'), (t) => t.rename('a', 'b')],
    'the same rename of a directory': [
      (t) => t.mkdir('d').write('d/a', '1'),
      (t) => t.rename('d', 'e'),
    ],
    'the same directories and files in them': [
      () => {},
      (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '1').write('d/b', '2').symlink('d/s', 'b'),
    ],
    'the same mode': [(t) => t.write('a', '1'), (t) => t.chmod('a', 0o600)],
    'the same mode of the root': [() => {}, (t) => t.chmod('', 0o700)],
    'the same attribute': [(t) => t.write('a', '1'), (t) => t.setxattr('a', 'user.x', 'y')],
    'the same hard link': [(t) => t.write('a', '1'), (t) => t.link('a', 'b')],
    'the same name less': [(t) => t.write('a', '1').link('a', 'b'), (t) => t.remove('b')],
    'the same file in place of a directory': [
      (t) => t.mkdir('d').write('d/a', '1'),
      (t) => t.remove('d').write('d', '2'),
    ],
    'the same directory in place of a file': [
      (t) => t.write('d', '1'),
      (t) => t.remove('d').mkdir('d').write('d/a', '2'),
    ],
    'the same save by rename': [(t) => t.write('a', '1'), (t) => t.saveByRename('a', '2')],
    'the same exchange': [
      (t) => t.write('a', '1').write('b', '2'),
      (t) => t.rename('a', 'b', 'exchange'),
    ],
    'the same device': [() => {}, (t) => t.mknod('n', 'character', { rdev: 7 })],
  }
  for (const [what, [base, change]] of Object.entries(cases))
    it(what, async () => {
      const histories = { layer: change!, target: change!, base: base! }
      const there = await MergeCase.make(histories)
      expect(await mergedTree(histories)).toEqual(await there.list(there.target))
    })

  it('a rename and an edit to one in place, the same by saving under a new name: the same', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.write('a', '2'),
        target: (t) => t.saveByRename('a', '2'),
      }),
    ).toEqual({ a: '2' })
  })
})

describe('merge › directories', () => {
  it('renamed on one side, edited inside on the other: the edit is in the renamed one', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '1').write('d/gone', '1'),
        layer: (t) => t.rename('d', 'moved'),
        target: (t) => t.write('d/e/a', '2').write('d/e/new', '3').remove('d/gone'),
      }),
    ).toEqual({
      moved: 'directory',
      'moved/e': 'directory',
      'moved/e/a': '2',
      'moved/e/new': '3',
    })
  })

  it('both sides add different files: the entries are counted', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.write('d/layer', '2').mkdir('d/one').write('d/one/x', '2'),
        target: (t) => t.write('d/target', '3').mkdir('d/two').write('d/two/x', '3'),
      }),
    ).toEqual({
      d: 'directory',
      'd/a': '1',
      'd/layer': '2',
      'd/one': 'directory',
      'd/one/x': '2',
      'd/target': '3',
      'd/two': 'directory',
      'd/two/x': '3',
    })
  })

  it('made on both sides with different files in it: one directory with all of them', async () => {
    expect(
      await mergedTree({
        layer: (t) => t.mkdir('out').mkdir('out/deep').write('out/deep/layer', '1'),
        target: (t) => t.mkdir('out').mkdir('out/deep').write('out/deep/target', '2'),
      }),
    ).toEqual({
      out: 'directory',
      'out/deep': 'directory',
      'out/deep/layer': '1',
      'out/deep/target': '2',
    })
  })

  it('removed and made again by one side, written into by the other: it is the same one', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mkdir('d').write('d/a', '1').write('d/b', '1'),
        layer: (t) => t.remove('d').mkdir('d').write('d/a', '1').write('d/new', '2'),
        target: (t) => t.write('d/a', '3').write('d/other', '3'),
      }),
    ).toEqual({ d: 'directory', 'd/a': '3', 'd/new': '2', 'd/other': '3' })
  })

  it('removed and made again by the layer alone: it keeps its number, who stands in it stays there', async () => {
    const there = await MergeCase.make({
      base: (t) => t.mkdir('d').write('d/a', '1'),
      layer: (t) => t.remove('d').mkdir('d').write('d/a', '2'),
      target: (t) => t.write('b', '3'),
    })
    const result = await there.merge()
    if (result.type === 'conflicted') throw new Error('conflicts')
    const inoOf = async (snapshot: Snapshot): Promise<number | undefined> =>
      (await readTree(there.stores, snapshot)).get('d')?.ino
    expect(await inoOf(result.snapshot)).toBe(await inoOf(there.target))
  })

  it('removed and made again by the target, the same file put in by both: one file', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.write('d/new', '2'),
        target: (t) => t.remove('d').mkdir('d').write('d/a', '1').write('d/new', '2'),
      }),
    ).toEqual({ d: 'directory', 'd/a': '1', 'd/new': '2' })
  })

  it('emptied and removed by one side, a file in it touched by the other: gone', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.remove('d'),
        target: (t) => t.touch('d/a').touch('d'),
      }),
    ).toEqual({})
  })

  it('a file moved out by one side before it removed the directory, edited by the other', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.rename('d/a', 'a').remove('d'),
        target: (t) => t.write('d/a', '2'),
      }),
    ).toEqual({ a: '2' })
  })

  it('each side renames another part of the way: both renames', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '1'),
        layer: (t) => t.rename('d', 'D'),
        target: (t) => t.rename('d/e', 'd/E').rename('d/E/a', 'd/E/A'),
      }),
    ).toEqual({ D: 'directory', 'D/E': 'directory', 'D/E/A': '1' })
  })

  it('a directory swapped for its own subdirectory by one side, edited in by the other', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '1'),
        layer: (t) => t.rename('d/e', 'e').rename('d', 'e/d'),
        target: (t) => t.write('d/e/a', '2').write('d/new', '3'),
      }),
    ).toEqual({ e: 'directory', 'e/a': '2', 'e/d': 'directory', 'e/d/new': '3' })
  })

  it('two files that change places on one side, one edited on the other', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1').write('b', '2'),
        layer: (t) => t.rename('a', 'b', 'exchange'),
        target: (t) => t.write('a', '3'),
      }),
    ).toEqual({ a: '2', b: '3' })
  })

  it('a directory in place of a file that the other left alone: the directory', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('x', '1').mkdir('y').write('y/a', '1'),
        layer: (t) => t.remove('x').mkdir('x').write('x/in', '2'),
        target: (t) => t.remove('y').write('y', '3'),
      }),
    ).toEqual({ x: 'directory', 'x/in': '2', y: '3' })
  })
})
