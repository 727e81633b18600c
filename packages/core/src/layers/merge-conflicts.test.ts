import { describe } from 'vitest'
import { conflictTable } from '../../test/conflict-table.ts'

describe('merge › edit/edit', () => {
  conflictTable({
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
  conflictTable({
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
  conflictTable({
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

describe('merge › mode', () => {
  conflictTable({
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
