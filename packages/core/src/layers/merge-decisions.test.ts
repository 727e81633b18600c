import { describe, expect, it } from 'vitest'
import { type Histories, MergeCase } from '../../test/merge-case.ts'

type Edit = NonNullable<Histories['base']>

describe('merge › decided › deep', () => {
  it('as deep as a path can be', async () => {
    const depth = 2000
    // From the inside out, and back: walking down two thousand paths would take its time.
    const wrap: Edit = (t) => {
      for (let i = 1; i < depth; i++) t.mkdir('x').rename('d', 'x/d').rename('x', 'd')
    }
    const unwrap: Edit = (t) => {
      for (let i = 1; i < depth; i++) t.rename('d/d', 'x').remove('d').rename('x', 'd')
    }
    const there = await MergeCase.make({
      base: (t) => wrap(t.mkdir('d')),
      layer: (t) => (unwrap(t), t.remove('d').write('d', '1')),
      target: (t) => t.write(`${'d/'.repeat(depth)}f`, '2'),
    })
    expect(await there.conflicts()).toEqual(['file/directory d: d/ | d | d/'])
    expect(await there.decided('layer')).toEqual({ d: '1' })
    expect(Object.keys(await there.decided('target'))).toHaveLength(depth + 1)
  })
})

describe('merge › decided › one answer brings up another question', () => {
  const chain: Histories = {
    base: (t) => t.write('q', '0'),
    layer: (t) => t.write('p', 'layer p').write('q', 'layer q'),
    target: (t) => t.rename('q', 'p').symlink('q', 'target'),
  }

  it('a file sent back finds its place taken', async () => {
    const there = await MergeCase.make(chain)
    expect(await there.conflicts()).toEqual(['add/add p: - | p | p'])
    const resolutions = await there.resolutions({ 'add/add p': 'layer' })
    expect(await there.conflicts({ resolutions })).toEqual(['edit/edit q: q | q | q@'])
    const choices = { 'add/add p': 'layer', 'edit/edit q': 'layer' } as const
    expect(await there.decided(choices, 2)).toEqual({
      p: 'layer p',
      q: 'layer q',
    })
  })

  it('no pair of answers leaves a file that both sides have without a place', async () => {
    const there = await MergeCase.make(chain)
    const choices = { 'add/add p': 'layer', 'edit/edit q': 'target' } as const
    const resolutions = await there.resolutions(choices, 2)
    expect(await there.conflicts({ resolutions })).toEqual(['edit/edit q: q | q | q@'])
    expect(await there.decided({ 'add/add p': 'target' })).toEqual({
      p: 'layer q',
      q: 'symlink target',
    })
  })

  it('a move decided on may end where the other side has something', async () => {
    const there = await MergeCase.make({
      base: (t) => t.write('a', '0'),
      layer: (t) => t.rename('a', 'b').write('c', '1'),
      target: (t) => t.rename('a', 'c'),
    })
    expect(await there.decided('layer')).toEqual({ b: '0', c: '1' })
    const resolutions = await there.resolutions({ 'rename/rename b': 'target' })
    expect(await there.conflicts({ resolutions })).toEqual(['add/add c: - | c | c'])
    expect(await there.decided('target', 2)).toEqual({ c: '0' })
  })

  it('a move decided on may close a cycle', async () => {
    const there = await MergeCase.make({
      base: (t) => t.mkdir('a').mkdir('b').mkdir('c'),
      layer: (t) => t.rename('a', 'b/a'),
      target: (t) => t.rename('a', 'c/a').rename('b', 'c/a/b'),
    })
    expect(await there.conflicts()).toEqual(['rename/rename b/a: a/ | b/a/ | c/a/'])
    expect(await there.decided('target')).toEqual({
      c: 'directory',
      'c/a': 'directory',
      'c/a/b': 'directory',
    })
    expect(await there.decided('layer', 2)).toEqual({
      b: 'directory',
      'b/a': 'directory',
      c: 'directory',
    })
  })

  it('a directory that came back for something goes again with it', async () => {
    const there = await MergeCase.make({
      base: (t) => t.mkdir('a').mkdir('b').mkdir('b/d'),
      layer: (t) => t.remove('b/d').rename('b', 'a/b'),
      target: (t) => t.rename('a', 'b/d/a'),
    })
    expect(await there.conflicts()).toEqual([
      'directory cycle a/b: b/ | a/b/ | b/d/a/',
      'rename/delete b/d/a: a/ | a/ | b/d/a/',
    ])
    const choices = { 'directory cycle a/b': 'layer', 'rename/delete b/d/a': 'target' } as const
    expect(await there.decided(choices)).toEqual({ a: 'directory', 'a/b': 'directory' })
  })
})

describe('merge › decided › a decision stands as long as the target does', () => {
  const stale: Readonly<Record<string, [Histories, again: Histories['target']]>> = {
    'a file edited again': [
      {
        base: (t) => t.write('a', '0'),
        layer: (t) => t.write('a', '1'),
        target: (t) => t.write('a', '2'),
      },
      (t) => t.write('a', '3'),
    ],
    'a file’s later block edited again': [
      {
        base: (t) => t.write('a', new Uint8Array(300_000).fill(1)),
        layer: (t) => t.writeAt('a', 0, '1'),
        target: (t) => t.writeAt('a', 290_000, '2'),
      },
      (t) => t.writeAt('a', 290_000, '3'),
    ],
    'a mode changed again': [
      {
        base: (t) => t.write('a', '0'),
        layer: (t) => t.chmod('a', 0o600),
        target: (t) => t.chmod('a', 0o640),
      },
      (t) => t.chmod('a', 0o400),
    ],
    'a file moved again': [
      {
        base: (t) => t.write('a', '0'),
        layer: (t) => t.rename('a', 'b'),
        target: (t) => t.rename('a', 'c'),
      },
      (t) => t.rename('c', 'd'),
    ],
    'a deleted file made again': [
      {
        base: (t) => t.write('a', '0'),
        layer: (t) => t.write('a', '1'),
        target: (t) => t.remove('a'),
      },
      (t) => t.write('a', '2'),
    ],
    'a file in place of a directory edited again': [
      {
        base: (t) => t.mkdir('d'),
        layer: (t) => t.write('d/new', '1'),
        target: (t) => t.remove('d').write('d', '2'),
      },
      (t) => t.write('d', '3'),
    ],
    'a file deep in a directory that is in the way': [
      {
        layer: (t) => t.write('d', '1'),
        target: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '2'),
      },
      (t) => t.write('d/e/a', '3'),
    ],
    'a file added deep in a directory that was added to a deleted one': [
      {
        base: (t) => t.mkdir('d'),
        layer: (t) => t.remove('d'),
        target: (t) => t.mkdir('d/e').mkdir('d/e/f'),
      },
      (t) => t.write('d/e/f/a', '3'),
    ],
    'a name given to what the layer took one from': [
      {
        base: (t) => t.write('a', '0').link('a', 'b'),
        layer: (t) => t.remove('b'),
        target: (t) => t.write('a', '2'),
      },
      (t) => t.link('a', 'c'),
    ],
    'a name changed of what the layer took one from': [
      {
        base: (t) => t.write('a', '0').link('a', 'b'),
        layer: (t) => t.remove('b'),
        target: (t) => t.write('a', '2'),
      },
      (t) => t.rename('a', 'c'),
    ],
  }
  for (const [what, [histories, again]] of Object.entries(stale))
    it(`asked again: ${what}`, async () => {
      const there = await MergeCase.make(histories)
      const resolutions = await there.resolutions('layer')
      await there.clean({ resolutions })
      const moved = await there.goOn('target', again!)
      expect(await moved.conflicts({ resolutions })).not.toEqual([])
    })

  it('a decision is not asked for again when something else changed, or only a time', async () => {
    const there = await MergeCase.make({
      base: (t) => t.mkdir('d').write('d/a', '0').write('d/b', '0'),
      layer: (t) => t.write('d/a', '1').chmod('d', 0o700),
      target: (t) => t.write('d/a', '2').chmod('d', 0o750),
    })
    const resolutions = await there.resolutions('layer')
    const moved = await there.goOn('target', (t) =>
      t.write('d/b', '3').write('d/new', '3').touch('d/a').touch('d'),
    )
    expect(await moved.clean({ resolutions })).toEqual({
      d: 'directory 700',
      'd/a': '1',
      'd/b': '3',
      'd/new': '3',
    })
  })

  it('stands when the layer goes on: its own work is what was chosen', async () => {
    const there = await MergeCase.make({
      base: (t) => t.write('a', '0'),
      layer: (t) => t.write('a', '1'),
      target: (t) => t.write('a', '2'),
    })
    const resolutions = await there.resolutions('layer')
    const moved = await there.goOn('layer', (t) => t.write('a', '3'))
    expect(await moved.clean({ resolutions })).toEqual({ a: '3' })
  })
})

describe('merge › decided › open files', () => {
  it('what the target deleted while it was open has its name again, and is nameless no more', async () => {
    const there = await MergeCase.make({
      base: (t) => t.write('a', new Uint8Array(300_000).fill(1)),
      layer: (t) => t.chmod('a', 0o600),
      target: (t) => t.remove('a'),
    })
    expect(there.target.orphans).not.toBe(there.stores.nodes.emptyRoot)
    const result = await there.merge({ resolutions: await there.resolutions('layer') })
    if (result.type === 'conflicted') throw new Error('conflicts')
    expect(result.snapshot.orphans).toBe(there.stores.nodes.emptyRoot)
    expect(await there.list(result.snapshot)).toEqual({ a: '300000 bytes 600' })
  })
})
