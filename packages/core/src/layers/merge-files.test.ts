import { describe, expect, it } from 'vitest'
import { type Histories, MergeCase, mergedTree } from '../../test/merge-case.ts'
import { blockBytes } from '../content/block.ts'
import { readTree } from '../testing/read-tree.ts'
import { Supply } from '../testing/tree-editor.ts'

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
      await mergedTree({
        base: (t) => t.write('a', '1').setxattr('a', 'user.x', 'y'),
        layer: (t) => t.saveByRename('a', '2').setxattr('a', 'user.x', 'y'),
        target: (t) => t.chmod('a', 0o600),
      }),
    ).toEqual({ a: '2 600 user.x=y' })
  })

  it('a file saved by rename, its directory renamed by the other side', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mkdir('d').write('d/a', '1'),
        layer: (t) => t.saveByRename('d/a', '2'),
        target: (t) => t.rename('d', 'e'),
      }),
    ).toEqual({ e: 'directory', 'e/a': '2' })
  })

  it('a file saved by rename, and renamed by the other side: the new bytes under the new name', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.saveByRename('a', '2'),
        target: (t) => t.rename('a', 'b'),
      }),
    ).toEqual({ b: '2' })
  })

  it('a device made anew with another number: the new one', async () => {
    expect(
      await mergedTree({
        base: (t) => t.mknod('n', 'character', { rdev: 7 }),
        layer: (t) => t.remove('n').mknod('n', 'character', { rdev: 8 }),
        target: (t) => t.chmod('n', 0o600),
      }),
    ).toEqual({ n: 'character 8 600' })
  })

  it('a symlink made anew: the new target', async () => {
    expect(
      await mergedTree({
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
      await mergedTree({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.link('a', 'layer').write('a', '2'),
        target: (t) => t.link('a', 'target'),
      }),
    ).toEqual({ a: '2 ×3', layer: '2 ×3', target: '2 ×3' })
  })

  it('each side takes another name away: what is left', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1').link('a', 'b').link('a', 'c'),
        layer: (t) => t.remove('a'),
        target: (t) => t.remove('b'),
      }),
    ).toEqual({ c: '1' })
  })

  it('one name renamed by one side, the bytes edited by the other', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1').link('a', 'b'),
        layer: (t) => t.rename('b', 'c'),
        target: (t) => t.write('a', '2'),
      }),
    ).toEqual({ a: '2 ×2', c: '2 ×2' })
  })

  it('one side takes some names away, the other all: all are gone', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1').link('a', 'b'),
        layer: (t) => t.remove('b'),
        target: (t) => t.remove('a').remove('b'),
      }),
    ).toEqual({})
  })

  it('the only name renamed by one side, a second given by the other', async () => {
    expect(
      await mergedTree({
        base: (t) => t.write('a', '1'),
        layer: (t) => t.rename('a', 'b'),
        target: (t) => t.link('a', 'c'),
      }),
    ).toEqual({ b: '1 ×2', c: '1 ×2' })
  })

  it('names in a directory that the other side renamed', async () => {
    expect(
      await mergedTree({
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

  it('files are merged if the options say so', async () => {
    const there = await MergeCase.make(lines)
    const result = { a: 'one\n2\n3\n4\nfive\n 600' }
    expect(await there.clean({ mergeText: true })).toEqual(result)
    expect(await there.swapped().clean({ mergeText: true })).toEqual(result)
  })

  it('a conflict when not', async () => {
    expect(await (await MergeCase.make(lines)).conflicts()).toEqual(['edit/edit a: a | a | a'])
  })

  it('one line changed in two ways is still a conflict', async () => {
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
