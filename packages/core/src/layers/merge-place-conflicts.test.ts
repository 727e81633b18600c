import { describe } from 'vitest'
import { conflictTable } from '../../test/conflict-table.ts'

describe('merge › rename/rename', () => {
  conflictTable({
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
  conflictTable({
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
  conflictTable({
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
  conflictTable({
    'each moved into the other': {
      base: (t) => t.mkdir('a').mkdir('b'),
      layer: (t) => t.rename('a', 'b/a'),
      target: (t) => t.rename('b', 'a/b'),
      gives: ['directory cycle b/a: a/ | b/a/ | a/b/'],
    },
    'through unchanged directories': {
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
    'beside others that only hang from it': {
      base: (t) => t.mkdir('e').mkdir('a').mkdir('b'),
      layer: (t) => t.rename('e', 'b/e').rename('a', 'b/a'),
      target: (t) => t.rename('b', 'a/b'),
      gives: ['directory cycle b/a: a/ | b/a/ | a/b/'],
    },
    'through a directory that the layer made': {
      base: (t) => t.mkdir('a').mkdir('b'),
      layer: (t) => t.mkdir('b/new').rename('a', 'b/new/a'),
      target: (t) => t.rename('b', 'a/b'),
      gives: ['directory cycle b/new/a: a/ | b/new/a/ | a/b/'],
    },
  })
})

describe('merge › hard link', () => {
  conflictTable({
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
    'all names taken away and one given to a new file, the old one edited: two questions': {
      base: (t) => t.write('a', '0').link('a', 'b'),
      layer: (t) => t.saveByRename('a', '1').remove('b'),
      target: (t) => t.write('a', '2'),
      gives: ['edit/delete a: a | - | a', 'edit/edit a: a | a | a'],
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
