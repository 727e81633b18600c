import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Event, type Files, useGrep } from '../../test/grep-fixture.ts'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'

const { ask, index, makeFiles } = useGrep()

const hasRipgrep = spawnSync('rg', ['--version']).status === 0

/** More of them are a soak. */
const runs = 25 * Number(process.env['CAIRN_RUNS'] ?? 1)

interface Span {
  readonly start: number
  readonly end: number
}

/** An answer's line, without what differs from run to run. */
interface Found {
  readonly type: string
  readonly path: string
  readonly line: number
  readonly text: unknown
  readonly spans: unknown
}

interface Options {
  readonly ignoreCase: boolean
  readonly word: boolean
  readonly fixed: boolean
  readonly invert: boolean
  readonly multiline: boolean
  readonly before: number
  readonly after: number
  readonly maxCount: number
  readonly unrestricted: number
  readonly glob: readonly string[]
  readonly type: readonly string[]
}

function simplify(events: readonly Event[]): readonly Found[] {
  return events
    .filter(({ type }) => type === 'match' || type === 'context')
    .map(({ type, data }) => ({
      type,
      path: (data.path.text ?? data.path.bytes).replace(/^\.?\//, ''),
      line: data.line_number,
      text: data.lines,
      // Whether a match of nothing counts at the end of a line differs between versions of ripgrep.
      spans: type === 'match' ? data.submatches.filter(({ start, end }: Span) => start < end) : [],
    }))
    .toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
}

function askRipgrep(
  directory: string,
  pattern: string,
  options: Options,
): readonly Found[] | 'refused' {
  const { before, after, maxCount, unrestricted } = options
  const args = [
    '--json',
    '--no-config',
    '--no-ignore-global',
    '--no-ignore-parent',
    ...(options.ignoreCase ? ['-i'] : []),
    ...(options.word ? ['-w'] : []),
    ...(options.fixed ? ['-F'] : []),
    ...(options.invert ? ['-v'] : []),
    ...(options.multiline ? ['-U'] : []),
    ...(before > 0 ? [`-B${before}`] : []),
    ...(after > 0 ? [`-A${after}`] : []),
    ...(Number.isFinite(maxCount) ? [`-m${maxCount}`] : []),
    ...Array.from({ length: unrestricted }, () => '-u'),
    ...options.glob.map((glob) => `--glob=${glob}`),
    ...options.type.map((type) => `--type=${type}`),
    '-e',
    pattern,
    '.',
  ]
  const { status, stdout, stderr } = spawnSync('rg', args, { cwd: directory, encoding: 'utf8' })
  if (status === 2) return /regex parse|not allowed/.test(stderr) ? 'refused' : []
  const lines = stdout.trim().split('\n')
  return simplify(lines.filter((line) => line !== '').map((line) => JSON.parse(line)))
}

function writeTree(directory: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), Buffer.from(text, 'latin1'))
  }
}

async function compare(
  files: Files,
  pattern: string,
  options: Options,
  see: (found: Found) => unknown = (found) => found,
): Promise<void> {
  const wanted = await withTemporaryDirectory(async (directory) => {
    writeTree(directory, files)
    return askRipgrep(directory, pattern, options)
  })
  if (wanted === 'refused') return
  const root = await makeFiles(files)
  const { maxCount, ...rest } = options
  const query = { pattern, ...rest, ...(Number.isFinite(maxCount) ? { maxCount } : {}) }
  expect(simplify(await ask(root, query)).map(see)).toEqual(wanted.map(see))
  await index.settled()
  expect(simplify(await ask(root, query)).map(see), 'with the index').toEqual(wanted.map(see))
}

const utf8 = (text: string): string => Buffer.from(text).toString('latin1')
const word = fc.constantFrom(
  'foo',
  'Bar',
  'a',
  '_x9',
  '-',
  ' ',
  '(',
  utf8('é'),
  utf8('日本'),
  '\xff',
  '.',
)
const line = fc.array(word, { maxLength: 6 }).map((words) => words.join(''))
const text = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '', '\r\n'))
  .map(([lines, end]) => lines.join(end === '\r\n' ? end : '\n') + end)
const path = fc.constantFrom(
  'a.ts',
  'b.md',
  'src/a.ts',
  'src/b/c.js',
  '.hidden',
  '.h/x.ts',
  'src/x.log',
  utf8('ü.txt'),
)
const ignored = fc.constantFrom(
  '*.log\n',
  'src/*\n!src/b\n',
  '/a.ts\n',
  'b/\n# x\n',
  '**/c.js\n',
  '*.{ts,md}\n',
)
const tree = fc
  .tuple(
    fc.dictionary(path, text, { maxKeys: 6 }),
    fc.option(
      fc.tuple(fc.constantFrom('.gitignore', '.ignore', 'src/.gitignore', 'src/.ignore'), ignored),
    ),
    fc.boolean(),
  )
  .map(([files, rule, hasGit]) => ({
    ...files,
    ...(rule ? { [rule[0]]: rule[1] } : {}),
    ...(hasGit ? { '.git/HEAD': 'ref: foo\n' } : {}),
  }))
const pattern = fc.oneof(
  fc.constantFrom(
    'foo',
    'fo+',
    '^foo',
    'a$',
    '\\bfoo\\b',
    'f[a-o]o|Bar',
    '\\w+',
    '(?i)bar',
    '.',
    '[^f]',
    '\\s',
    'é',
    'o{2}',
    '(foo|a)+x',
    '^$',
    '',
    '\\d',
    '[[:alpha:]]+-',
    'f.?o',
    '日',
    '(?-u:\\xff)',
    '\\p{Lu}',
    'a|',
    '^',
    '$',
    '(a*)*b?',
    '\\B',
    '[é-ü]',
    '(?s).',
    'x??o',
  ),
)
const option = fc
  .record({
    ignoreCase: fc.boolean(),
    word: fc.constant(false),
    fixed: fc.constantFrom(false, false, true),
    invert: fc.constantFrom(false, false, true),
    multiline: fc.constant(false),
    before: fc.constantFrom(0, 0, 1, 2),
    after: fc.constantFrom(0, 0, 1, 2),
    maxCount: fc.constantFrom(Infinity, Infinity, 1, 2),
    unrestricted: fc.constantFrom(0, 0, 1, 2),
    glob: fc.constantFrom([], [], ['*.ts'], ['!*.ts'], ['src/**'], ['*.ts', '!a.ts'], ['**/b/*']),
    type: fc.constantFrom([], [], ['ts'], ['js', 'md']),
  })
  // Lines behind the last one that is wanted are context here; in ripgrep 13 some are matches.
  .map((options) => (Number.isFinite(options.maxCount) ? { ...options, after: 0 } : options))

describe.skipIf(!hasRipgrep)('grep, beside ripgrep on the same tree', () => {
  it('random trees, patterns and options: the same lines and matches', async () => {
    await fc.assert(
      fc.asyncProperty(tree, pattern, option, (files, wanted, options) =>
        compare(files, wanted, options),
      ),
      { numRuns: runs },
    )
  })

  it('whole words of random texts: the same lines', async () => {
    // ripgrep 13 wants a valid character on both sides of a word, and gives some matches without their first letter.
    const valid = tree.map((files): Files =>
      Object.fromEntries(
        Object.entries(files).map(([at, text]) => [at, text.replaceAll('\xff', '+')]),
      ),
    )
    const words = fc.constantFrom('foo', 'fo+', 'Bar|a', '\\w+', 'é', 'f.?o', '_x9|foo', '日')
    await fc.assert(
      fc.asyncProperty(valid, words, option, (files, wanted, options) =>
        compare(files, wanted, { ...options, word: true }, (found) => ({ ...found, spans: [] })),
      ),
      { numRuns: runs },
    )
  })

  it('matches over several lines of random texts: the same lines and matches', async () => {
    const wide = fc.constantFrom(
      'foo\\n',
      'a\\s+',
      '(?s)f.*?a',
      '\\n\\n',
      'o$\\n^',
      '\\Aa',
      'x\\z',
      '[^b]+',
      'foo',
    )
    await fc.assert(
      fc.asyncProperty(tree, wide, option, (files, wanted, options) =>
        compare(files, wanted, { ...options, multiline: true, fixed: false, maxCount: Infinity }),
      ),
      { numRuns: runs },
    )
  })
})
