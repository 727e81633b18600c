import { describe, expect, it } from 'vitest'
import { type Histories, MergeCase } from '../../test/merge-case.ts'
import { blockBytes } from '../content/block.ts'
import { readTree } from '../testing/read-tree.ts'
import { Supply } from '../testing/tree-editor.ts'

async function merged(histories: Histories): Promise<Readonly<Record<string, string>>> {
  const there = await MergeCase.make(histories)
  const result = await there.clean()
  // Who is called layer and who target decides about numbers, not about what is where.
  expect(await there.swapped().clean()).toEqual(result)
  return result
}

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
      await merged({
        base: (t) => t.write('a', '1').write('b', '1').write('c', '1').write('d', '1'),
        layer: (t) => t.write('a', '2').remove('c').write('new', '2'),
        target: (t) => t.write('b', '3').remove('d').write('other', '3'),
      }),
    ).toEqual({ a: '2', b: '3', new: '2', other: '3' })
  })

  it('one side edited a file, the other changed its mode, owner and attributes: all of it', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.write('a', '2').setxattr('a', 'user.layer', 'x'),
        target: (t) => t.chmod('a', 0o600).chown('a', 5, 6).setxattr('a', 'user.target', 'y'),
      }),
    ).toEqual({ a: '2 600 5:6 user.layer=x user.target=y' })
  })

  it('one side removed an attribute, the other added one: both', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1').setxattr('a', 'user.old', 'x').setxattr('a', 'user.k', 'x'),
        layer: (t) => t.removexattr('a', 'user.old'),
        target: (t) => t.setxattr('a', 'user.new', 'y'),
      }),
    ).toEqual({ a: '1 user.k=x user.new=y' })
  })

  it('one side touched a file, the other deleted it: deleted, times never conflict', async () => {
    expect(
      await merged({
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
      expect(await merged(histories)).toEqual(await there.list(there.target))
    })

  it('a rename and an edit to one in place, the same by saving under a new name: the same', async () => {
    expect(
      await merged({
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
      await merged({
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
      await merged({
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
      await merged({
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
      await merged({
        base: (t) => t.mkdir('d').write('d/a', '1').write('d/b', '1'),
        layer: (t) => t.remove('d').mkdir('d').write('d/a', '1').write('d/new', '2'),
        target: (t) => t.write('d/a', '3').write('d/other', '3'),
      }),
    ).toEqual({ d: 'directory', 'd/a': '3', 'd/new': '2', 'd/other': '3' })
  })

  it('emptied and removed by one side, a file in it touched by the other: gone', async () => {
    expect(
      await merged({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.remove('d'),
        target: (t) => t.touch('d/a').touch('d'),
      }),
    ).toEqual({})
  })

  it('a file moved out by one side before it removed the directory, edited by the other', async () => {
    expect(
      await merged({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.rename('d/a', 'a').remove('d'),
        target: (t) => t.write('d/a', '2'),
      }),
    ).toEqual({ a: '2' })
  })

  it('each side renames another part of the way: both renames', async () => {
    expect(
      await merged({
        base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '1'),
        layer: (t) => t.rename('d', 'D'),
        target: (t) => t.rename('d/e', 'd/E').rename('d/E/a', 'd/E/A'),
      }),
    ).toEqual({ D: 'directory', 'D/E': 'directory', 'D/E/A': '1' })
  })

  it('a directory swapped for its own subdirectory by one side, edited in by the other', async () => {
    expect(
      await merged({
        base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '1'),
        layer: (t) => t.rename('d/e', 'e').rename('d', 'e/d'),
        target: (t) => t.write('d/e/a', '2').write('d/new', '3'),
      }),
    ).toEqual({ e: 'directory', 'e/a': '2', 'e/d': 'directory', 'e/d/new': '3' })
  })

  it('two files that change places on one side, one edited on the other', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1').write('b', '2'),
        layer: (t) => t.rename('a', 'b', 'exchange'),
        target: (t) => t.write('a', '3'),
      }),
    ).toEqual({ a: '2', b: '3' })
  })

  it('a directory in place of a file that the other left alone: the directory', async () => {
    expect(
      await merged({
        base: (t) => t.write('x', '1').mkdir('y').write('y/a', '1'),
        layer: (t) => t.remove('x').mkdir('x').write('x/in', '2'),
        target: (t) => t.remove('y').write('y', '3'),
      }),
    ).toEqual({ x: 'directory', 'x/in': '2', y: '3' })
  })
})

describe('merge › all in one tick of the clock', () => {
  const frozen = async (histories: Histories): Promise<Readonly<Record<string, string>>> =>
    (await MergeCase.make(histories, new Supply(0))).clean()

  it('a directory that seems untouched on both sides counts what came', async () => {
    expect(
      await frozen({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.remove('d/a').write('d/b', '2'),
        target: (t) => t.remove('d/a').write('d/c', '3'),
      }),
    ).toEqual({ d: 'directory', 'd/b': '2', 'd/c': '3' })
  })

  it('a name of a file with several is renamed, a block edited, and nothing else tells', async () => {
    const bytes = new Uint8Array(blockBytes + 10).fill(1)
    const there = await MergeCase.make(
      {
        base: (t) => t.write('a', '1').link('a', 'b').write('large', bytes),
        layer: (t) => t.rename('b', 'c'),
        target: (t) => t.writeAt('large', blockBytes, '2'),
      },
      new Supply(0),
    )
    const result = await there.merge()
    if (result.type === 'conflicted') throw new Error('conflicts')
    const tree = await readTree(there.stores, result.snapshot)
    expect([...tree.keys()]).toEqual(['', 'a', 'c', 'large'])
    expect(tree.get('large')?.bytes?.[blockBytes]).toBe('2'.charCodeAt(0))
    await there.list(result.snapshot)
  })
})

describe('merge › saving under another name', () => {
  it('a file saved by rename, its mode changed by the other side: one file', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1').setxattr('a', 'user.x', 'y'),
        layer: (t) => t.saveByRename('a', '2').setxattr('a', 'user.x', 'y'),
        target: (t) => t.chmod('a', 0o600),
      }),
    ).toEqual({ a: '2 600 user.x=y' })
  })

  it('a file saved by rename, its directory renamed by the other side', async () => {
    expect(
      await merged({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.saveByRename('d/a', '2'),
        target: (t) => t.rename('d', 'e'),
      }),
    ).toEqual({ e: 'directory', 'e/a': '2' })
  })

  it('a file saved by rename, and renamed by the other side: the new bytes under the new name', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.saveByRename('a', '2'),
        target: (t) => t.rename('a', 'b'),
      }),
    ).toEqual({ b: '2' })
  })

  it('a device made anew with another number: the new one', async () => {
    expect(
      await merged({
        base: (t) => t.mknod('n', 'character', { rdev: 7 }),
        layer: (t) => t.remove('n').mknod('n', 'character', { rdev: 8 }),
        target: (t) => t.chmod('n', 0o600),
      }),
    ).toEqual({ n: 'character 8 600' })
  })

  it('a symlink made anew: the new target', async () => {
    expect(
      await merged({
        base: (t) => t.symlink('s', 'here'),
        layer: (t) => t.remove('s').symlink('s', 'there'),
        target: (t) => t.write('a', '1'),
      }),
    ).toEqual({ a: '1', s: 'symlink there' })
  })
})

describe('merge › hard links', () => {
  it('each side gives a file another name: all of them', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.link('a', 'layer').write('a', '2'),
        target: (t) => t.link('a', 'target'),
      }),
    ).toEqual({ a: '2 ×3', layer: '2 ×3', target: '2 ×3' })
  })

  it('each side takes another name away: what is left', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1').link('a', 'b').link('a', 'c'),
        layer: (t) => t.remove('a'),
        target: (t) => t.remove('b'),
      }),
    ).toEqual({ c: '1' })
  })

  it('one name renamed by one side, the bytes edited by the other', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1').link('a', 'b'),
        layer: (t) => t.rename('b', 'c'),
        target: (t) => t.write('a', '2'),
      }),
    ).toEqual({ a: '2 ×2', c: '2 ×2' })
  })

  it('one side takes some names away, the other all: all are gone', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1').link('a', 'b'),
        layer: (t) => t.remove('b'),
        target: (t) => t.remove('a').remove('b'),
      }),
    ).toEqual({})
  })

  it('the only name renamed by one side, a second given by the other', async () => {
    expect(
      await merged({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.rename('a', 'b'),
        target: (t) => t.link('a', 'c'),
      }),
    ).toEqual({ b: '1 ×2', c: '1 ×2' })
  })

  it('names in a directory that the other side renamed', async () => {
    expect(
      await merged({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.link('d/a', 'd/b').link('d/a', 'c'),
        target: (t) => t.rename('d', 'e').write('e/a', '2'),
      }),
    ).toEqual({ c: '2 ×3', e: 'directory', 'e/a': '2 ×3', 'e/b': '2 ×3' })
  })
})

describe('merge › large and sparse files', () => {
  const large = (seed: number, length = 2 * blockBytes + 100): Uint8Array =>
    Uint8Array.from({ length }, (_, i) => (i * seed) % 251)

  async function bytesOf(histories: Histories, path: string): Promise<Uint8Array | undefined> {
    const there = await MergeCase.make(histories)
    const result = await there.merge()
    if (result.type === 'conflicted') throw new Error('conflicts')
    await there.list(result.snapshot)
    return (await readTree(there.stores, result.snapshot)).get(path)?.bytes
  }

  it('a block edited by the layer, the mode changed by the target', async () => {
    const wanted = large(3)
    wanted.set([1, 2, 3], blockBytes + 7)
    expect(
      await bytesOf(
        {
          base: (t) => t.write('a', large(3)),
          layer: (t) => t.writeAt('a', blockBytes + 7, new Uint8Array([1, 2, 3])),
          target: (t) => t.chmod('a', 0o600),
        },
        'a',
      ),
    ).toEqual(wanted)
  })

  it('saved by rename in the layer: the old blocks go', async () => {
    expect(
      await bytesOf(
        {
          base: (t) => t.write('a', large(3)),
          layer: (t) => t.saveByRename('a', large(5)),
          target: (t) => t.write('b', '1'),
        },
        'a',
      ),
    ).toEqual(large(5))
  })

  it('cut short in the layer: the blocks behind its end go', async () => {
    expect(
      await bytesOf(
        {
          base: (t) => t.write('a', large(3)),
          layer: (t) => t.truncate('a', 10),
          target: (t) => t.rename('a', 'b'),
        },
        'b',
      ),
    ).toEqual(large(3).subarray(0, 10))
  })

  it('replaced by a small file in the target, left alone by the layer', async () => {
    expect(
      await bytesOf(
        {
          base: (t) => t.write('a', large(3)),
          layer: (t) => t.chmod('a', 0o600),
          target: (t) => t.saveByRename('a', 'x').chmod('a', 0o644),
        },
        'a',
      ),
    ).toEqual(new TextEncoder().encode('x'))
  })

  it('deleted in the layer: its blocks go', async () => {
    const there = await MergeCase.make({
      base: (t) => t.write('a', large(3)),
      layer: (t) => t.remove('a'),
      target: (t) => t.write('b', '1'),
    })
    expect(await there.clean()).toEqual({ b: '1' })
  })

  it('a hole of many blocks grown at the end', async () => {
    const wanted = new Uint8Array(5 * blockBytes + 1)
    wanted[0] = 120
    wanted[5 * blockBytes] = 121
    expect(
      await bytesOf(
        {
          base: (t) => t.write('a', 'x'),
          layer: (t) => t.writeAt('a', 5 * blockBytes, 'y'),
          target: (t) => t.link('a', 'b'),
        },
        'b',
      ),
    ).toEqual(wanted)
  })

  it('the same block edited to the same bytes by both: no conflict', async () => {
    const edit: Histories['base'] = (t) => t.writeAt('a', 2 * blockBytes, 'same')
    const there = await MergeCase.make({
      base: (t) => t.write('a', large(3)),
      layer: edit!,
      target: edit!,
    })
    expect(await there.merge()).toEqual({ type: 'merged', snapshot: there.target })
  })

  it('different blocks edited by each side: a conflict, bytes are not lines', async () => {
    const there = await MergeCase.make({
      base: (t) => t.write('a', large(3)),
      layer: (t) => t.writeAt('a', 10, 'x'),
      target: (t) => t.writeAt('a', 2 * blockBytes, 'y'),
    })
    expect(await there.conflicts()).toEqual(['edit/edit a: a | a | a'])
  })
})

describe('merge › lines of text', () => {
  const lines: Histories = {
    base: (t) => t.write('a', '1\n2\n3\n4\n5\n'),
    layer: (t) => t.write('a', 'one\n2\n3\n4\n5\n').chmod('a', 0o600),
    target: (t) => t.write('a', '1\n2\n3\n4\nfive\n'),
  }

  it('merged when asked for', async () => {
    const there = await MergeCase.make(lines)
    const result = { a: 'one\n2\n3\n4\nfive\n 600' }
    expect(await there.clean({ mergeText: true })).toEqual(result)
    expect(await there.swapped().clean({ mergeText: true })).toEqual(result)
  })

  it('a conflict when not', async () => {
    expect(await (await MergeCase.make(lines)).conflicts()).toEqual(['edit/edit a: a | a | a'])
  })

  it('the same line in two ways: a conflict all the same', async () => {
    const there = await MergeCase.make({
      ...lines,
      target: (t) => t.write('a', 'uno\n2\n3\n4\n5\n'),
    })
    expect((await there.merge({ mergeText: true })).type).toBe('conflicted')
  })

  it('a file saved by rename on one side and moved by the other', async () => {
    const there = await MergeCase.make({
      ...lines,
      layer: (t) => t.saveByRename('a', 'one\n2\n3\n4\n5\n'),
      target: (t) => t.write('a', '1\n2\n3\n4\nfive\n').mkdir('d').rename('a', 'd/b'),
    })
    const result = { d: 'directory', 'd/b': 'one\n2\n3\n4\nfive\n' }
    expect(await there.clean({ mergeText: true })).toEqual(result)
  })

  it('a file grown beyond one block', async () => {
    const body = Array.from({ length: 40_000 }, (_, n) => `line ${n}\n`)
    const there = await MergeCase.make({
      base: (t) => t.write('a', body.join('')),
      layer: (t) => t.write('a', `first\n${body.join('')}`),
      target: (t) => t.write('a', `${body.join('')}last\n`),
    })
    const result = await there.merge({ mergeText: true })
    if (result.type === 'conflicted') throw new Error('conflicts')
    const bytes = (await readTree(there.stores, result.snapshot)).get('a')?.bytes
    expect(new TextDecoder().decode(bytes)).toBe(`first\n${body.join('')}last\n`)
    await there.list(result.snapshot)
  })
})
