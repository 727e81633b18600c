import { describe, expect, it } from 'vitest'
import { type Histories, MergeCase } from '../../test/merge-case.ts'
import type { ConflictKind } from './conflict.ts'

interface Case extends Histories {
  /** As `kind path: base | layer | target`, directories with a slash, symlinks with an at sign. */
  readonly gives: readonly `${ConflictKind} ${string}`[]
}

async function expectConflicts({ gives, ...histories }: Case): Promise<void> {
  const there = await MergeCase.make(histories)
  expect(await there.conflicts()).toEqual(gives)
  // Who is called layer and who target decides about nothing but the names of the sides.
  const sides = (lines: readonly string[], swap: boolean): readonly string[] =>
    lines.map((line) => sidesOf(line, swap)).sort()
  expect(sides(await there.swapped().conflicts(), true)).toEqual(sides(gives, false))
}

function sidesOf(line: string, swap: boolean): string {
  const [, kind, sides] = /^(.*?) \S*: (.*)$/.exec(line)!
  const [was, layer, target] = sides!.split(' | ')
  // A cycle is about two directories. The base shown is that of the layer's.
  const base = kind === 'directory cycle' ? '' : was
  return [kind, base, ...(swap ? [target, layer] : [layer, target])].join(' | ')
}

function table(cases: Readonly<Record<string, Case>>): void {
  for (const [title, row] of Object.entries(cases)) it(title, () => expectConflicts(row))
}

describe('merge › edit/edit', () => {
  table({
    'a file edited in two ways': {
      base: (t) => t.mkdir('d').write('d/a', '0'),
      layer: (t) => t.write('d/a', '1'),
      target: (t) => t.write('d/a', '2'),
      gives: ['edit/edit d/a: d/a | d/a | d/a'],
    },
    'edited in place and saved by rename': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.saveByRename('a', '1'),
      target: (t) => t.write('a', '2'),
      gives: ['edit/edit a: a | a | a'],
    },
    'saved by rename on both sides': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.saveByRename('a', '1'),
      target: (t) => t.saveByRename('a', '2'),
      gives: ['edit/edit a: a | a | a'],
    },
    'edited on both sides and moved on one: the path is the layer’s': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.write('a', '1'),
      target: (t) => t.write('a', '2').rename('a', 'b'),
      gives: ['edit/edit a: a | a | b'],
    },
    'a symlink made anew in two ways': {
      base: (t) => t.symlink('s', '0'),
      layer: (t) => t.remove('s').symlink('s', '1'),
      target: (t) => t.remove('s').symlink('s', '2'),
      gives: ['edit/edit s: s@ | s@ | s@'],
    },
    'a device made anew in two ways': {
      base: (t) => t.mknod('n', 'block', { rdev: 1 }),
      layer: (t) => t.remove('n').mknod('n', 'block', { rdev: 2 }),
      target: (t) => t.remove('n').mknod('n', 'block', { rdev: 3 }),
      gives: ['edit/edit n: n | n | n'],
    },
    'a symlink in place of a file that the other edited': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.remove('a').symlink('a', '1'),
      target: (t) => t.write('a', '2'),
      gives: ['edit/edit a: a | a@ | a'],
    },
    'another file moved over one that the other edited': {
      base: (t) => t.write('a', '0').write('b', '0'),
      layer: (t) => t.rename('b', 'a'),
      target: (t) => t.write('a', '2'),
      gives: ['edit/edit a: a | a | a'],
    },
    'another directory moved over one that the other wrote into': {
      base: (t) => t.mkdir('d').mkdir('e').write('e/x', '0'),
      layer: (t) => t.rename('e', 'd'),
      target: (t) => t.write('d/new', '2'),
      gives: ['edit/edit d: d/ | d/ | d/'],
    },
    'the bytes of a file with several names': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.write('a', '1'),
      target: (t) => t.write('b', '2'),
      gives: ['edit/edit a: a | a | a'],
    },
  })
})

describe('merge › edit/delete', () => {
  table({
    'edited by one, deleted by the other': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.write('a', '1'),
      target: (t) => t.remove('a'),
      gives: ['edit/delete a: a | a | -'],
    },
    'saved by rename by one, deleted by the other': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.remove('a'),
      target: (t) => t.saveByRename('a', '1'),
      gives: ['edit/delete a: a | - | a'],
    },
    'its mode changed by one, deleted by the other': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.chmod('a', 0o600),
      target: (t) => t.remove('a'),
      gives: ['edit/delete a: a | a | -'],
    },
    'a directory’s attribute changed by one, deleted with all in it by the other': {
      base: (t) => t.mkdir('d').write('d/a', '0'),
      layer: (t) => t.remove('d'),
      target: (t) => t.setxattr('d', 'user.x', '1'),
      gives: ['edit/delete d: d/ | - | d/'],
    },
    'a file edited deep in a directory that the other deleted: one question': {
      base: (t) => t.mkdir('d').mkdir('d/e').write('d/e/a', '0').write('d/b', '0'),
      layer: (t) => t.remove('d'),
      target: (t) => t.write('d/e/a', '1'),
      gives: ['edit/delete d/e/a: d/e/a | - | d/e/a'],
    },
    'a file added to a directory that the other deleted': {
      base: (t) => t.mkdir('d').write('d/a', '0'),
      layer: (t) => t.write('d/new', '1'),
      target: (t) => t.remove('d'),
      gives: ['edit/delete d/new: - | d/new | -'],
    },
    'a tree added to a directory that the other deleted: one question': {
      base: (t) => t.mkdir('d').mkdir('d/e'),
      layer: (t) => t.mkdir('d/e/f').write('d/e/f/x', '1').write('d/e/f/y', '1'),
      target: (t) => t.remove('d'),
      gives: ['edit/delete d/e/f: - | d/e/f/ | -'],
    },
    'two files added to a directory that the other deleted: two questions': {
      base: (t) => t.mkdir('d'),
      layer: (t) => t.write('d/x', '1').write('d/y', '1'),
      target: (t) => t.remove('d'),
      gives: ['edit/delete d/x: - | d/x | -', 'edit/delete d/y: - | d/y | -'],
    },
    'a file added in a directory that one side deleted and both renamed a way to': {
      base: (t) => t.mkdir('p').mkdir('p/d'),
      layer: (t) => t.rename('p', 'q').write('q/d/x', '1'),
      target: (t) => t.remove('p/d'),
      gives: ['edit/delete q/d/x: - | q/d/x | -'],
    },
    'the last of a file’s names edited by one, all deleted by the other': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.write('a', '1'),
      target: (t) => t.remove('a').remove('b'),
      gives: ['edit/delete a: a | a | -'],
    },
  })
})

describe('merge › add/add', () => {
  table({
    'a file added by both with different bytes': {
      layer: (t) => t.write('a', '1'),
      target: (t) => t.write('a', '2'),
      gives: ['add/add a: - | a | a'],
    },
    'in a directory made by both': {
      layer: (t) => t.mkdir('d').write('d/a', '1').write('d/same', '1'),
      target: (t) => t.mkdir('d').write('d/a', '2').write('d/same', '1'),
      gives: ['add/add d/a: - | d/a | d/a'],
    },
    'a file and a symlink': {
      layer: (t) => t.write('a', '1'),
      target: (t) => t.symlink('a', '2'),
      gives: ['add/add a: - | a | a@'],
    },
    'a file added where the other moved one to': {
      base: (t) => t.write('x', '0'),
      layer: (t) => t.rename('x', 'a'),
      target: (t) => t.write('a', '2'),
      gives: ['add/add a: - | a | a'],
    },
    'two files moved to one place': {
      base: (t) => t.write('x', '0').write('y', '0'),
      layer: (t) => t.rename('x', 'a'),
      target: (t) => t.rename('y', 'a'),
      gives: ['add/add a: - | a | a'],
    },
    'two directories moved to one place': {
      base: (t) => t.mkdir('x').write('x/1', '0').mkdir('y').write('y/2', '0'),
      layer: (t) => t.rename('x', 'd'),
      target: (t) => t.rename('y', 'd'),
      gives: ['add/add d: - | d/ | d/'],
    },
    'a name of one file given to another': {
      base: (t) => t.write('x', '0').write('y', '0'),
      layer: (t) => t.link('x', 'a'),
      target: (t) => t.link('y', 'a'),
      gives: ['add/add a: - | a | a'],
    },
    'in place of something that both deleted': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.remove('a').symlink('a', '1'),
      target: (t) => t.remove('a').mknod('a', 'fifo'),
      gives: ['add/add a: - | a@ | a'],
    },
    'a file that the other deleted and one moved to where the other made another': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.remove('a').write('b', '1'),
      target: (t) => t.rename('a', 'b'),
      gives: ['add/add b: - | b | b'],
    },
  })
})

describe('merge › rename/rename', () => {
  table({
    'a file moved to two places': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.rename('a', 'b'),
      target: (t) => t.rename('a', 'c'),
      gives: ['rename/rename b: a | b | c'],
    },
    'a directory moved to two places, written into by both': {
      base: (t) => t.mkdir('d').write('d/x', '0'),
      layer: (t) => t.rename('d', 'e').write('e/layer', '1'),
      target: (t) => t.rename('d', 'f').write('f/target', '2'),
      gives: ['rename/rename e: d/ | e/ | f/'],
    },
    'to one name in two directories': {
      base: (t) => t.mkdir('x').mkdir('y').write('a', '0'),
      layer: (t) => t.rename('a', 'x/a'),
      target: (t) => t.rename('a', 'y/a'),
      gives: ['rename/rename x/a: a | x/a | y/a'],
    },
    'to a place that the layer filled: whether that matters is not known yet': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.rename('a', 'b').write('c', '1'),
      target: (t) => t.rename('a', 'c'),
      gives: ['rename/rename b: a | b | c'],
    },
  })
})

describe('merge › rename/delete', () => {
  table({
    'a file moved by one, deleted by the other': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.rename('a', 'b'),
      target: (t) => t.remove('a'),
      gives: ['rename/delete b: a | b | -'],
    },
    'a directory moved by one, deleted with all in it by the other': {
      base: (t) => t.mkdir('d').write('d/a', '0'),
      layer: (t) => t.remove('d'),
      target: (t) => t.rename('d', 'e'),
      gives: ['rename/delete e: d/ | - | e/'],
    },
    'a file moved into a directory that the other deleted': {
      base: (t) => t.mkdir('d').write('a', '0'),
      layer: (t) => t.rename('a', 'd/a'),
      target: (t) => t.remove('d'),
      gives: ['rename/delete d/a: a | d/a | a'],
    },
    'a file renamed within a directory that the other deleted': {
      base: (t) => t.mkdir('d').write('d/a', '0'),
      layer: (t) => t.remove('d'),
      target: (t) => t.rename('d/a', 'd/b'),
      gives: ['rename/delete d/b: d/a | - | d/b'],
    },
  })
})

describe('merge › file/directory', () => {
  table({
    'one made a file, the other a directory': {
      layer: (t) => t.write('a', '1'),
      target: (t) => t.mkdir('a').write('a/x', '2').write('a/y', '2'),
      gives: ['file/directory a: - | a | a/'],
    },
    'a directory in place of a file that the other edited': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.remove('a').mkdir('a').write('a/x', '1'),
      target: (t) => t.write('a', '2'),
      gives: ['file/directory a: a | a/ | a'],
    },
    'a file in place of a directory that the other wrote into: one question': {
      base: (t) => t.mkdir('d').mkdir('d/e').write('d/a', '0').write('d/e/b', '0'),
      layer: (t) => t.remove('d').write('d', '1'),
      target: (t) => t.write('d/a', '2').write('d/e/new', '2').rename('d/e/b', 'd/e/c'),
      gives: ['file/directory d: d/ | d | d/'],
    },
    'a symlink in place of a directory whose mode the other changed': {
      base: (t) => t.mkdir('d').write('d/a', '0'),
      layer: (t) => t.chmod('d', 0o700).write('d/a', '1'),
      target: (t) => t.remove('d').symlink('d', 'e'),
      gives: ['file/directory d: d/ | d/ | d@'],
    },
    'a file moved over a directory that the other wrote into': {
      base: (t) => t.mkdir('d').write('x', '0'),
      layer: (t) => t.write('d/new', '1'),
      target: (t) => t.remove('d').rename('x', 'd'),
      gives: ['file/directory d: d/ | d/ | d'],
    },
    'a directory moved to where the other made a file': {
      base: (t) => t.mkdir('d').write('d/a', '0'),
      layer: (t) => t.rename('d', 'e'),
      target: (t) => t.write('e', '2').write('d/a', '2'),
      gives: ['file/directory e: - | e/ | e'],
    },
  })
})

describe('merge › directory cycle', () => {
  table({
    'each moved into the other': {
      base: (t) => t.mkdir('a').mkdir('b'),
      layer: (t) => t.rename('a', 'b/a'),
      target: (t) => t.rename('b', 'a/b'),
      gives: ['directory cycle b/a: a/ | b/a/ | a/b/'],
    },
    'through directories that nobody touched': {
      base: (t) => t.mkdir('a').mkdir('a/x').mkdir('a/x/y').mkdir('b').mkdir('b/z').mkdir('b/z/w'),
      layer: (t) => t.rename('a', 'b/z/w/a'),
      target: (t) => t.rename('b', 'a/x/y/b'),
      gives: ['directory cycle b/z/w/a: a/ | b/z/w/a/ | a/x/y/b/'],
    },
    'of three, two moved by the layer': {
      base: (t) => t.mkdir('a').mkdir('b').mkdir('c'),
      layer: (t) => t.rename('a', 'b/a').rename('b', 'c/b'),
      target: (t) => t.rename('c', 'a/c'),
      gives: ['directory cycle c/b/a: a/ | c/b/a/ | a/c/'],
    },
    'through a directory that the layer made': {
      base: (t) => t.mkdir('a').mkdir('b'),
      layer: (t) => t.mkdir('b/new').rename('a', 'b/new/a'),
      target: (t) => t.rename('b', 'a/b'),
      gives: ['directory cycle b/new/a: a/ | b/new/a/ | a/b/'],
    },
  })
})

describe('merge › mode', () => {
  table({
    'of a file': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.chmod('a', 0o600),
      target: (t) => t.chmod('a', 0o640),
      gives: ['mode a: a | a | a'],
    },
    'of a directory made by both': {
      layer: (t) => t.mkdir('d', 0o700),
      target: (t) => t.mkdir('d', 0o750),
      gives: ['mode d: - | d/ | d/'],
    },
    'of the root': {
      layer: (t) => t.chmod('', 0o700),
      target: (t) => t.chmod('', 0o750),
      gives: ['mode : / | / | /'],
    },
    'an owner': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.chown('a', 1),
      target: (t) => t.chown('a', 2),
      gives: ['mode a: a | a | a'],
    },
    'a group': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.chown('a', undefined, 1),
      target: (t) => t.chown('a', undefined, 2),
      gives: ['mode a: a | a | a'],
    },
    'an attribute set in two ways': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.setxattr('a', 'user.x', '1'),
      target: (t) => t.setxattr('a', 'user.x', '2'),
      gives: ['mode a: a | a | a'],
    },
    'an attribute set by one, removed by the other': {
      base: (t) => t.write('a', '0').setxattr('a', 'user.x', '0'),
      layer: (t) => t.setxattr('a', 'user.x', '1'),
      target: (t) => t.removexattr('a', 'user.x'),
      gives: ['mode a: a | a | a'],
    },
    'beside an edit of the bytes: two questions': {
      base: (t) => t.write('a', '0'),
      layer: (t) => t.write('a', '1').chmod('a', 0o600),
      target: (t) => t.write('a', '2').chmod('a', 0o640),
      gives: ['edit/edit a: a | a | a', 'mode a: a | a | a'],
    },
  })
})

describe('merge › hard link', () => {
  table({
    'a name taken away from what the other edited': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.remove('b'),
      target: (t) => t.write('a', '1'),
      gives: ['hard link b: b | a | b'],
    },
    'each took away what the other kept': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.remove('a'),
      target: (t) => t.remove('b'),
      gives: ['hard link a: a | b | a'],
    },
    'a name given by one, all taken away by the other': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.link('a', 'c'),
      target: (t) => t.remove('a').remove('b'),
      gives: ['hard link c: a | c | -'],
    },
    'a name given in a directory that the other deleted': {
      base: (t) => t.write('a', '0').mkdir('d'),
      layer: (t) => t.link('a', 'd/b'),
      target: (t) => t.remove('d'),
      gives: ['hard link d/b: a | d/b | a'],
    },
    'a name in a deleted directory of what the other edited': {
      base: (t) => t.mkdir('d').write('d/a', '0').link('d/a', 'b'),
      layer: (t) => t.write('b', '1'),
      target: (t) => t.remove('d'),
      gives: ['hard link d/a: d/a | d/a | b'],
    },
  })
})
