import { describe, expect, it } from 'vitest'
import { type Choices, type Histories, MergeCase } from '../../test/merge-case.ts'

type Listing = Readonly<Record<string, string>>

interface Case extends Histories {
  readonly layerChosen: Listing
  readonly targetChosen: Listing
  /** Absent where bytes decide nothing: then the conflict stays. */
  readonly bytesChosen?: Listing
}

async function expectDecided(row: Case): Promise<void> {
  const there = await MergeCase.make(row)
  expect(await there.decided('layer')).toEqual(row.layerChosen)
  expect(await there.decided('target')).toEqual(row.targetChosen)
  if (row.bytesChosen) expect(await there.decided('bytes')).toEqual(row.bytesChosen)
  else {
    const resolutions = await there.resolutions('bytes')
    expect(await there.conflicts({ resolutions })).toEqual(await there.conflicts())
  }
}

function table(cases: Readonly<Record<string, Case>>): void {
  for (const [title, row] of Object.entries(cases)) it(title, () => expectDecided(row))
}

describe('merge › decided › about content', () => {
  table({
    'edit/edit: the chosen bytes': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.write('a', '1').chmod('a', 0o600),
      target: (t) => t.write('a', '2'),
      layerChosen: { a: '1 600' },
      targetChosen: { a: '2 600' },
      bytesChosen: { a: 'decided 600' },
    },
    'edit/edit of a file with several names: all of them': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.write('a', '1').link('a', 'c'),
      target: (t) => t.write('a', '2'),
      layerChosen: { a: '1 ×3', b: '1 ×3', c: '1 ×3' },
      targetChosen: { a: '2 ×3', b: '2 ×3', c: '2 ×3' },
      bytesChosen: { a: 'decided ×3', b: 'decided ×3', c: 'decided ×3' },
    },
    'edit/edit after one side moved it: the bytes chosen, in the new place': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.write('a', '1'),
      target: (t) => t.write('a', '2').rename('a', 'b'),
      layerChosen: { b: '1' },
      targetChosen: { b: '2' },
      bytesChosen: { b: 'decided' },
    },
    'edit/edit of a symlink: bytes make no symlink': {
      base: (t) => t.symlink('s', '0'),
      layer: (t) => t.remove('s').symlink('s', '1'),
      target: (t) => t.remove('s').symlink('s', '2'),
      layerChosen: { s: 'symlink 1' },
      targetChosen: { s: 'symlink 2' },
    },
    'edit/edit of a symlink and a file: bytes make the file': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.remove('a').symlink('a', '1'),
      target: (t) => t.write('a', '2').chmod('a', 0o600),
      layerChosen: { a: 'symlink 1' },
      targetChosen: { a: '2 600' },
      bytesChosen: { a: 'decided 600' },
    },
    'edit/edit of a file and one moved over it: the other stays where the target has it': {
      base: (t) => t.write('a', '0').write('b', '0'),
      layer: (t) => t.rename('b', 'a'),
      target: (t) => t.write('a', '2'),
      layerChosen: { a: '0' },
      targetChosen: { a: '2', b: '0' },
      bytesChosen: { a: 'decided', b: '0' },
    },
    'add/add: the chosen bytes': {
      layer: (t) => t.write('a', '1'),
      target: (t) => t.write('a', '2'),
      layerChosen: { a: '1' },
      targetChosen: { a: '2' },
      bytesChosen: { a: 'decided' },
    },
    'add/add of a moved file and a new one: the moved one goes back, its edit with it': {
      base: (t) => t.write('x', '0'),
      layer: (t) => t.write('a', '1'),
      target: (t) => t.rename('x', 'a').write('a', '2'),
      layerChosen: { a: '1', x: '2' },
      targetChosen: { a: '2' },
      bytesChosen: { a: 'decided' },
    },
    'add/add of two moved directories: the other goes back, with what was written into it': {
      base: (t) => t.mkdir('x').write('x/1', '0').mkdir('y').write('y/2', '0'),
      layer: (t) => t.rename('x', 'd').write('d/1', '1'),
      target: (t) => t.rename('y', 'd').write('d/2', '2'),
      layerChosen: { d: 'directory', 'd/1': '1', y: 'directory', 'y/2': '2' },
      targetChosen: { d: 'directory', 'd/2': '2', x: 'directory', 'x/1': '1' },
    },
    'add/add of names: the other name only': {
      base: (t) => t.write('x', 'x').write('y', 'y'),
      layer: (t) => t.link('x', 'a'),
      target: (t) => t.link('y', 'a'),
      layerChosen: { a: 'x ×2', x: 'x ×2', y: 'y' },
      targetChosen: { a: 'y ×2', x: 'x', y: 'y ×2' },
      bytesChosen: { a: 'decided ×2', x: 'x', y: 'decided ×2' },
    },
  })
})

describe('merge › decided › about deletions', () => {
  table({
    'edit/delete: kept as edited, or gone': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.write('a', '1'),
      target: (t) => t.remove('a'),
      layerChosen: { a: '1' },
      targetChosen: {},
      bytesChosen: { a: 'decided' },
    },
    'edit/delete deep in a deleted directory: the way to it comes back, nothing else': {
      base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '0').write('d/b', '0').mkdir('d/f'),
      layer: (t) => t.remove('d'),
      target: (t) => t.write('d/e/a', '2').chmod('d/e/a', 0o600),
      layerChosen: {},
      targetChosen: { d: 'directory', 'd/e': 'directory', 'd/e/a': '2 600' },
      bytesChosen: { d: 'directory', 'd/e': 'directory', 'd/e/a': 'decided 600' },
    },
    'edit/delete of a directory: kept with all that was in it': {
      base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '0').write('d/b', '0').link('d/b', 'c'),
      layer: (t) => t.remove('d'),
      target: (t) => t.chmod('d', 0o700),
      layerChosen: { c: '0' },
      targetChosen: {
        c: '0 ×2',
        d: 'directory 700',
        'd/b': '0 ×2',
        'd/e': 'directory',
        'd/e/a': '0',
      },
    },
    'edit/delete of what was added to a deleted directory': {
      base: (t) => t.mkdir('d').write('d/a', '0'),
      layer: (t) => t.mkdir('d/new').write('d/new/x', '1').write('d/new/y', '1'),
      target: (t) => t.remove('d'),
      layerChosen: { d: 'directory', 'd/new': 'directory', 'd/new/x': '1', 'd/new/y': '1' },
      targetChosen: {},
    },
    'rename/delete of a file': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.rename('a', 'b'),
      target: (t) => t.remove('a'),
      layerChosen: { b: '0' },
      targetChosen: {},
      bytesChosen: { b: 'decided' },
    },
    'rename/delete of a directory: kept with all that was in it': {
      base: (t) => t.mkdir('d').write('d/a', '0').mkdir('d/e').write('d/e/b', '0'),
      layer: (t) => t.remove('d'),
      target: (t) => t.rename('d', 'moved'),
      layerChosen: {},
      targetChosen: {
        moved: 'directory',
        'moved/a': '0',
        'moved/e': 'directory',
        'moved/e/b': '0',
      },
    },
    'rename/delete of a file moved into a deleted directory: back where the other has it': {
      base: (t) => t.mkdir('d').write('a', '0'),
      layer: (t) => t.rename('a', 'd/a').write('d/a', '1'),
      target: (t) => t.remove('d').chmod('a', 0o600),
      layerChosen: { d: 'directory', 'd/a': '1 600' },
      targetChosen: { a: '1 600' },
    },
  })

  it('each thing in a deleted directory is decided by itself', async () => {
    const there = await MergeCase.make({
      base: (t) => t.mkdir('d').write('d/a', '0').write('d/b', '0'),
      layer: (t) => t.write('d/a', '1').write('d/b', '1').write('d/x', '1').write('d/y', '1'),
      target: (t) => t.remove('d'),
    })
    const choices: Choices = {
      'edit/delete d/a': 'layer',
      'edit/delete d/b': 'target',
      'edit/delete d/x': 'layer',
      'edit/delete d/y': 'target',
    }
    expect(await there.decided(choices)).toEqual({ d: 'directory', 'd/a': '1', 'd/x': '1' })
  })

  it('a kept directory comes back without what was decided to go', async () => {
    const there = await MergeCase.make({
      base: (t) => t.mkdir('d').write('d/a', '0').write('d/b', '0'),
      layer: (t) => t.remove('d'),
      target: (t) => t.rename('d', 'e').write('e/a', '2'),
    })
    expect(
      await there.decided({ 'rename/delete e': 'target', 'edit/delete e/a': 'layer' }),
    ).toEqual({ e: 'directory', 'e/b': '0' })
    expect(
      await there.decided({ 'rename/delete e': 'layer', 'edit/delete e/a': 'target' }),
    ).toEqual({ e: 'directory', 'e/a': '2' })
  })
})

describe('merge › decided › about places', () => {
  table({
    'rename/rename: the chosen name, whatever else happened': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.rename('a', 'b').write('b', '1'),
      target: (t) => t.rename('a', 'c').chmod('c', 0o600),
      layerChosen: { b: '1 600' },
      targetChosen: { c: '1 600' },
    },
    'rename/rename, once into a directory that the other deleted': {
      base: (t) => t.mkdir('d').write('a', '0'),
      layer: (t) => t.rename('a', 'd/a'),
      target: (t) => t.rename('a', 'b').remove('d'),
      layerChosen: { d: 'directory', 'd/a': '0' },
      targetChosen: { b: '0' },
    },
    'rename/rename of a directory: what both wrote into it': {
      base: (t) => t.mkdir('d').write('d/x', '0'),
      layer: (t) => t.rename('d', 'e').write('e/layer', '1'),
      target: (t) => t.rename('d', 'f').write('f/target', '2'),
      layerChosen: { e: 'directory', 'e/layer': '1', 'e/target': '2', 'e/x': '0' },
      targetChosen: { f: 'directory', 'f/layer': '1', 'f/target': '2', 'f/x': '0' },
    },
    'file/directory: one or the other, whole': {
      layer: (t) => t.write('a', '1'),
      target: (t) => t.mkdir('a').write('a/x', '2').mkdir('a/e').write('a/e/y', '2'),
      layerChosen: { a: '1' },
      targetChosen: { a: 'directory', 'a/e': 'directory', 'a/e/y': '2', 'a/x': '2' },
      bytesChosen: { a: 'decided' },
    },
    'file/directory where one replaced the directory that the other wrote into': {
      base: (t) => t.mkdir('d').mkdir('d/e').write('d/a', '0').write('d/e/b', '0'),
      layer: (t) => t.remove('d').write('d', '1'),
      target: (t) => t.write('d/a', '2').write('d/new', '2'),
      layerChosen: { d: '1' },
      targetChosen: {
        d: 'directory',
        'd/a': '2',
        'd/e': 'directory',
        'd/e/b': '0',
        'd/new': '2',
      },
      bytesChosen: { d: 'decided' },
    },
    'file/directory where one replaced the file that the other edited': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.remove('a').mkdir('a').write('a/x', '1'),
      target: (t) => t.write('a', '2'),
      layerChosen: { a: 'directory', 'a/x': '1' },
      targetChosen: { a: '2' },
      bytesChosen: { a: 'decided' },
    },
    'file/directory where things moved in and out': {
      base: (t) => t.mkdir('d').write('d/out', '0').write('in', '0').write('f', '0'),
      layer: (t) => t.rename('d/out', 'out').remove('d').rename('f', 'd'),
      target: (t) => t.rename('in', 'd/in').write('d/out', '2'),
      layerChosen: { d: '0', in: '0', out: '2' },
      targetChosen: { d: 'directory', 'd/in': '0', f: '0', out: '2' },
      bytesChosen: { d: 'decided', in: '0', out: '2' },
    },
    'directory cycle: the moves of the chosen side': {
      base: (t) => t.mkdir('a').write('a/1', '0').mkdir('b').write('b/2', '0'),
      layer: (t) => t.rename('a', 'b/a').write('b/a/1', '1').chmod('b', 0o700),
      target: (t) => t.rename('b', 'a/b').write('a/b/2', '2').chmod('a', 0o750),
      layerChosen: { b: 'directory 700', 'b/2': '2', 'b/a': 'directory 750', 'b/a/1': '1' },
      targetChosen: { a: 'directory 750', 'a/1': '1', 'a/b': 'directory 700', 'a/b/2': '2' },
    },
    'directory cycle through unchanged directories': {
      base: (t) => t.mkdir('a').mkdir('a/x').mkdir('b').mkdir('b/z'),
      layer: (t) => t.rename('a', 'b/z/a'),
      target: (t) => t.rename('b', 'a/x/b'),
      layerChosen: {
        b: 'directory',
        'b/z': 'directory',
        'b/z/a': 'directory',
        'b/z/a/x': 'directory',
      },
      targetChosen: {
        a: 'directory',
        'a/x': 'directory',
        'a/x/b': 'directory',
        'a/x/b/z': 'directory',
      },
    },
  })
})

describe('merge › decided › about attributes and names', () => {
  table({
    'mode: the chosen one, and what the sides agree about': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.chmod('a', 0o600).setxattr('a', 'user.layer', '1'),
      target: (t) => t.chmod('a', 0o640).setxattr('a', 'user.target', '2').chown('a', 5),
      layerChosen: { a: '0 600 5:0 user.layer=1 user.target=2' },
      targetChosen: { a: '0 640 5:0 user.layer=1 user.target=2' },
    },
    'mode, an attribute removed by one': {
      base: (t) => t.write('a', '0').setxattr('a', 'user.x', '0'),
      layer: (t) => t.removexattr('a', 'user.x'),
      target: (t) => t.setxattr('a', 'user.x', '2'),
      layerChosen: { a: '0' },
      targetChosen: { a: '0 user.x=2' },
    },
    'hard link, a name taken away from what the other edited': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.remove('b'),
      target: (t) => t.write('a', '2'),
      layerChosen: { a: '2' },
      targetChosen: { a: '2 ×2', b: '2 ×2' },
    },
    'hard link, each took away what the other kept': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.remove('a'),
      target: (t) => t.remove('b'),
      layerChosen: { b: '0' },
      targetChosen: { a: '0' },
    },
    'hard link, all names taken away where the other gave one': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.link('a', 'c'),
      target: (t) => t.remove('a').remove('b'),
      layerChosen: { a: '0 ×3', b: '0 ×3', c: '0 ×3' },
      targetChosen: {},
      bytesChosen: { a: 'decided ×3', b: 'decided ×3', c: 'decided ×3' },
    },
    'all names taken away and one given to a new file, the old one edited': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.saveByRename('a', '1').remove('b'),
      target: (t) => t.write('a', '2'),
      layerChosen: { a: '1' },
      targetChosen: { a: '2 ×2', b: '2 ×2' },
      bytesChosen: { a: 'decided ×2', b: 'decided ×2' },
    },
    'hard link, a name in a deleted directory': {
      base: (t) => t.write('a', '0').mkdir('d').write('d/x', '0'),
      layer: (t) => t.link('a', 'd/b'),
      target: (t) => t.remove('d'),
      layerChosen: { a: '0 ×2', d: 'directory', 'd/b': '0 ×2' },
      targetChosen: { a: '0' },
    },
    'hard link, a name in a deleted directory of what the other edited': {
      base: (t) => t.mkdir('d').write('d/a', '0').link('d/a', 'b').write('d/x', '0'),
      layer: (t) => t.write('b', '1'),
      target: (t) => t.remove('d'),
      layerChosen: { b: '1 ×2', d: 'directory', 'd/a': '1 ×2' },
      targetChosen: { b: '1' },
    },
  })
})
