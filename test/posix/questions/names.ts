import { O_RDONLY, S_IFIFO } from '../constants.ts'
import { content, create, names, outcome, outcomes } from '../observe.ts'
import type { Question } from '../question.ts'

const LONGEST_NAME = 'n'.repeat(255)
const TOO_LONG_NAME = 'n'.repeat(256)

export const namesQuestions: readonly Question[] = [
  {
    fact: 'names › 255 bytes: a file, a directory, a symlink, a hard link, a rename',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, `d/${LONGEST_NAME}`)
      await fs.link(`d/${LONGEST_NAME}`, 'a'.repeat(255))
      await fs.symlink('x', 'b'.repeat(255))
      await fs.mkdir('c'.repeat(255))
      await fs.rename('c'.repeat(255), 'e'.repeat(255))
      return [...(await names(fs, 'd')), ...(await names(fs, '.'))].map((name) => name.length)
    },
    expect: [255, 255, 255, 1, 255],
  },
  {
    fact: 'names › 256 bytes: ENAMETOOLONG for everything that makes a name',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => create(fs, TOO_LONG_NAME)),
        await outcome(() => fs.mkdir(TOO_LONG_NAME)),
        await outcome(() => fs.symlink('x', TOO_LONG_NAME)),
        await outcome(() => fs.link('f', TOO_LONG_NAME)),
        await outcome(() => fs.rename('f', TOO_LONG_NAME)),
        await outcome(() => fs.mknod(TOO_LONG_NAME, S_IFIFO | 0o600)),
      ]
    },
    expect: Array(6).fill('ENAMETOOLONG'),
  },
  {
    fact: 'names › 256 bytes: ENAMETOOLONG, not ENOENT, for everything that looks one up',
    ask: async (fs) => [
      await outcome(() => fs.lstat(TOO_LONG_NAME)),
      await outcome(() => fs.open(TOO_LONG_NAME, O_RDONLY)),
      await outcome(() => fs.unlink(TOO_LONG_NAME)),
      await outcome(() => fs.rmdir(TOO_LONG_NAME)),
      await outcome(() => fs.rename(TOO_LONG_NAME, 'f')),
      await outcome(() => fs.lstat(`${TOO_LONG_NAME}/f`)),
    ],
    expect: Array(6).fill('ENAMETOOLONG'),
  },
  {
    fact: 'names › 256 bytes below a missing directory: ENOENT; below a file: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcomes([`missing/${TOO_LONG_NAME}`, `f/${TOO_LONG_NAME}`], (path) => fs.lstat(path))
    },
    expect: ['ENOENT', 'ENOTDIR'],
  },
  {
    fact: 'names › length is counted in bytes: 127 two-byte letters fit, 128 do not',
    ask: async (fs) => [
      await outcome(() => create(fs, 'ä'.repeat(127))),
      await outcome(() => create(fs, 'ä'.repeat(128))),
    ],
    expect: ['ok', 'ENAMETOOLONG'],
  },
  {
    fact: 'names › symlink in a path whose target has a name of 256 bytes: ENAMETOOLONG',
    ask: async (fs) => {
      await fs.symlink(TOO_LONG_NAME, 's')
      return outcome(() => fs.stat('s'))
    },
    expect: 'ENAMETOOLONG',
  },
  {
    fact: 'names › bytes that are no UTF-8: kept as they are',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, Uint8Array.of(0x64, 0x2f, 0xff, 0xfe, 0x80))
      return names(fs, 'd')
    },
    expect: ['\u00ff\u00fe\u0080'],
  },
  {
    fact: 'names › two that decode to the same replacement characters: two files',
    ask: async (fs) => {
      await create(fs, Uint8Array.of(0xff), 'one')
      await create(fs, Uint8Array.of(0xfe), 'two')
      return [await content(fs, Uint8Array.of(0xff)), await content(fs, Uint8Array.of(0xfe))]
    },
    expect: ['one', 'two'],
  },
  {
    fact: 'names › every single byte but zero, slash and dot: 253 names, all listed',
    ask: async (fs) => {
      await fs.mkdir('d')
      for (let byte = 1; byte < 256; byte++) {
        if (byte !== 0x2e && byte !== 0x2f) await create(fs, Uint8Array.of(0x64, 0x2f, byte))
      }
      return (await names(fs, 'd')).length
    },
    expect: 253,
  },
  {
    fact: 'names › composed and decomposed forms of a letter: two files',
    ask: async (fs) => {
      await create(fs, '\u00e4', 'composed')
      await create(fs, 'a\u0308', 'decomposed')
      return [await content(fs, '\u00e4'), await content(fs, 'a\u0308')]
    },
    expect: ['composed', 'decomposed'],
  },
  {
    fact: 'names › upper and lower case: two files',
    ask: async (fs) => {
      await create(fs, 'readme')
      await create(fs, 'README')
      return names(fs, '.')
    },
    expect: ['README', 'readme'],
  },
  {
    fact: 'names › space, newline, backslash, quote, leading dash, three dots: like any other',
    ask: async (fs) => {
      const odd = [' ', '"', '-rf', '...', 'a\nb', 'a\\b', 'end ', 'end.']
      for (const name of odd) await create(fs, name)
      return names(fs, '.')
    },
    expect: [' ', '"', '-rf', '...', 'a\nb', 'a\\b', 'end ', 'end.'],
  },
  {
    fact: 'names › beginning with another: neither hides the other',
    ask: async (fs) => {
      await fs.mkdir('a')
      await create(fs, 'ab', 'ab')
      await create(fs, 'a/b', 'a/b')
      await create(fs, 'a.b', 'a.b')
      return [await names(fs, '.'), await names(fs, 'a'), await content(fs, 'a/b')]
    },
    expect: [['a', 'a.b', 'ab'], ['b'], 'a/b'],
  },
]
