import { describe, expect, it } from 'vitest'
import { type Histories, MergeCase } from '../../test/merge-case.ts'
import { blockBytes } from '../content/block.ts'
import { diffPaths, type PathChange } from './path-changes.ts'

type Edit = NonNullable<Histories['base']>

async function changesOf(base: Edit, change: Edit): Promise<readonly PathChange[]> {
  const there = await MergeCase.make({ base, layer: change })
  return diffPaths(there.stores.nodes, there.base, there.layer)
}

/** `kind path`, with where it came from and an asterisk if it was edited on the way. */
function show({ kind, path, from, edited }: PathChange): string {
  const origin = from ? ` from ${from.join('/')}` : ''
  return `${kind} /${path.join('/')}${origin}${edited ? ' *' : ''}`
}

interface Case {
  readonly base: Edit
  readonly change: Edit
  readonly gives: readonly string[]
}

function table(cases: Readonly<Record<string, Case>>): void {
  for (const [title, { base, change, gives }] of Object.entries(cases))
    it(title, async () => {
      expect((await changesOf(base, change)).map(show)).toEqual(gives)
    })
}

describe('diff by path › files', () => {
  table({
    'nothing changed': { base: (t) => t.write('a', '1'), change: () => {}, gives: [] },
    'a file added, one deleted, one edited': {
      base: (t) => t.mkdir('d').write('d/gone', '1').write('d/edited', '1').write('d/same', '1'),
      change: (t) => t.write('d/new', '2').remove('d/gone').write('d/edited', '2'),
      gives: ['modified /d/edited', 'deleted /d/gone', 'added /d/new'],
    },
    'only a later block of it edited': {
      base: (t) => t.write('a', new Uint8Array(2 * blockBytes).fill(1)),
      change: (t) => t.writeAt('a', blockBytes + 5, '2'),
      gives: ['modified /a'],
    },
    'permissions, owners and attributes': {
      base: (t) => t.write('a', '1').write('b', '1').write('c', '1').write('d', '1'),
      change: (t) =>
        t.chmod('a', 0o600).chown('b', 5).chown('c', undefined, 5).setxattr('d', 'user.x', '1'),
      gives: ['mode /a', 'mode /b', 'mode /c', 'mode /d'],
    },
    'its mtime': {
      base: (t) => t.write('a', '1'),
      change: (t) => t.touch('a'),
      gives: ['mode /a'],
    },
    'edited and its mode changed: modified says it': {
      base: (t) => t.write('a', '1'),
      change: (t) => t.write('a', '2').chmod('a', 0o600),
      gives: ['modified /a'],
    },
    'made and deleted in between: nothing': {
      base: (t) => t.write('a', '1'),
      change: (t) => t.write('b', '2').remove('b'),
      gives: [],
    },
  })
})

describe('diff by path › replaced', () => {
  table({
    'saved by rename': {
      base: (t) => t.write('a', '1'),
      change: (t) => t.saveByRename('a', '2'),
      gives: ['modified /a'],
    },
    'removed and made again with the same bytes: only its time differs': {
      base: (t) => t.write('a', '1'),
      change: (t) => t.remove('a').write('a', '1'),
      gives: ['mode /a'],
    },
    'a large file saved by rename with one byte changed behind the first block': {
      base: (t) => t.write('a', new Uint8Array(2 * blockBytes).fill(1)),
      change: (t) => {
        const bytes = new Uint8Array(2 * blockBytes).fill(1)
        bytes[blockBytes + 9] = 2
        return t.saveByRename('a', bytes)
      },
      gives: ['modified /a'],
    },
    'a directory with what is in it': {
      base: (t) => t.mkdir('d').write('d/a', '1').write('d/b', '1'),
      change: (t) => t.remove('d').mkdir('d').write('d/a', '2').write('d/c', '2'),
      gives: ['modified /d/a', 'deleted /d/b', 'added /d/c'],
    },
    'a directory around a file that stayed the same': {
      base: (t) => t.mkdir('d').write('d/a', '1'),
      change: (t) => t.mkdir('new').rename('d/a', 'new/a').remove('d').rename('new', 'd'),
      gives: [],
    },
    'a directory with another mode': {
      base: (t) => t.mkdir('d'),
      change: (t) => t.remove('d').mkdir('d', 0o700),
      gives: ['mode /d'],
    },
    'a symlink’s target, a device’s number': {
      base: (t) => t.symlink('s', '1').mknod('n', 'character', { rdev: 1 }),
      change: (t) =>
        t.remove('s').symlink('s', '2').remove('n').mknod('n', 'character', { rdev: 2 }),
      gives: ['modified /n', 'modified /s'],
    },
    'a file become a directory, a directory become a symlink': {
      base: (t) => t.write('a', '1').mkdir('d').write('d/x', '1'),
      change: (t) => t.remove('a').mkdir('a').write('a/y', '2').remove('d').symlink('d', 'a'),
      gives: ['type /a', 'added /a/y', 'type /d', 'deleted /d/x'],
    },
    'a file in a renamed directory': {
      base: (t) => t.mkdir('d').write('d/a', '1'),
      change: (t) => t.rename('d', 'e').saveByRename('e/a', '2'),
      gives: ['renamed /e from d', 'modified /e/a'],
    },
  })
})

describe('diff by path › renamed', () => {
  table({
    'a file': {
      base: (t) => t.mkdir('d').write('a', '1'),
      change: (t) => t.rename('a', 'd/b'),
      gives: ['renamed /d/b from a'],
    },
    'a file, and edited': {
      base: (t) => t.write('a', '1'),
      change: (t) => t.rename('a', 'b').write('b', '2'),
      gives: ['renamed /b from a *'],
    },
    'a directory: what is in it did not change': {
      base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '1').write('d/b', '1'),
      change: (t) => t.rename('d', 'f'),
      gives: ['renamed /f from d'],
    },
    'a directory, and written into: by its new path': {
      base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '1').write('d/gone', '1'),
      change: (t) => t.rename('d', 'f').write('f/e/a', '2').write('f/e/new', '2').remove('f/gone'),
      gives: ['deleted /d/gone', 'renamed /f from d', 'modified /f/e/a', 'added /f/e/new'],
    },
    'a directory in a renamed directory': {
      base: (t) => t.mkdir('d').mkdir('d/e'),
      change: (t) => t.rename('d/e', 'd/f').rename('d', 'g'),
      gives: ['renamed /g from d', 'renamed /g/f from d/e'],
    },
    'over another file': {
      base: (t) => t.write('a', '1').write('b', '2'),
      change: (t) => t.rename('a', 'b'),
      gives: ['renamed /b from a'],
    },
    'away from a place that was filled again': {
      base: (t) => t.write('a', '1'),
      change: (t) => t.rename('a', 'b').write('a', '2'),
      gives: ['added /a', 'renamed /b from a'],
    },
    'two in each other’s places': {
      base: (t) => t.write('a', '1').mkdir('b').write('b/x', '1'),
      change: (t) => t.rename('a', 'b', 'exchange'),
      gives: ['renamed /a from b', 'renamed /b from a'],
    },
  })
})

describe('diff by path › hard links', () => {
  table({
    'a name more': {
      base: (t) => t.write('a', '1'),
      change: (t) => t.link('a', 'b'),
      gives: ['added /b'],
    },
    'a name less': {
      base: (t) => t.write('a', '1').link('a', 'b'),
      change: (t) => t.remove('a'),
      gives: ['deleted /a'],
    },
    'edited under one name: modified under all': {
      base: (t) => t.mkdir('d').write('a', '1').link('a', 'd/b'),
      change: (t) => t.write('a', '2'),
      gives: ['modified /a', 'modified /d/b'],
    },
    'edited, and a name more': {
      base: (t) => t.write('a', '1').link('a', 'b'),
      change: (t) => t.write('a', '2').link('a', 'c'),
      gives: ['modified /a', 'modified /b', 'added /c'],
    },
    'one of two names renamed': {
      base: (t) => t.write('a', '1').link('a', 'b'),
      change: (t) => t.rename('b', 'c'),
      gives: ['renamed /c from b'],
    },
    'one of two names renamed, and edited': {
      base: (t) => t.write('a', '1').link('a', 'b'),
      change: (t) => t.rename('b', 'c').write('a', '2'),
      gives: ['modified /a', 'renamed /c from b *'],
    },
    'all names gone': {
      base: (t) => t.write('a', '1').link('a', 'b'),
      change: (t) => t.remove('a').remove('b'),
      gives: ['deleted /a', 'deleted /b'],
    },
  })
})

describe('diff by path › directories', () => {
  table({
    'the root’s own mode': {
      base: () => {},
      change: (t) => t.chmod('', 0o700),
      gives: ['mode /'],
    },
    'entries come and go: no change of the directory itself': {
      base: (t) => t.mkdir('d').write('d/a', '1'),
      change: (t) => t.write('d/b', '1'),
      gives: ['added /d/b'],
    },
    'its mode': {
      base: (t) => t.mkdir('d').write('d/a', '1'),
      change: (t) => t.chmod('d', 0o700),
      gives: ['mode /d'],
    },
    'a whole tree added, a whole tree deleted': {
      base: (t) => t.mkdir('old').mkdir('old/e').write('old/e/a', '1'),
      change: (t) => t.remove('old').mkdir('new').mkdir('new/e').symlink('new/e/s', 'x'),
      gives: [
        'added /new',
        'added /new/e',
        'added /new/e/s',
        'deleted /old',
        'deleted /old/e',
        'deleted /old/e/a',
      ],
    },
    'two that traded names, and a file that went back to its path': {
      base: (t) => t.mkdir('d').write('d/a', '1').mkdir('e').write('e/a', '2'),
      change: (t) => t.rename('d', 'e', 'exchange').rename('e/a', 'd/a'),
      gives: ['renamed /d from e', 'renamed /d/a from d/a', 'renamed /e from d', 'deleted /e/a'],
    },
    'two that traded names, with a file gone from each': {
      base: (t) => t.mkdir('d').write('d/a', '1').mkdir('e').write('e/a', '2'),
      change: (t) => t.rename('d', 'e', 'exchange').remove('d/a').remove('e/a'),
      gives: ['renamed /d from e', 'deleted /d/a', 'renamed /e from d', 'deleted /e/a'],
    },
  })
})

describe('diff by path › fields', () => {
  it('says what is there now, or what was there', async () => {
    const changes = await changesOf(
      (t) => t.symlink('gone', 'x').write('type', '1'),
      (t) => t.remove('gone').mkdir('new').remove('type').mkdir('type'),
    )
    expect(changes).toEqual([
      { kind: 'deleted', path: ['gone'], fileKind: 'symlink' },
      { kind: 'added', path: ['new'], fileKind: 'directory' },
      { kind: 'type', path: ['type'], fileKind: 'directory' },
    ])
  })

  it('names are bytes', async () => {
    const changes = await changesOf(
      () => {},
      (t) => t.write('\xff\x80', '1'),
    )
    expect(changes).toEqual([{ kind: 'added', path: ['\xff\x80'], fileKind: 'file' }])
  })
})
