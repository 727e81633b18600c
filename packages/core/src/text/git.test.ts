import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { concatBytes, toByteString } from '@cairn/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { markConflicts } from './conflict-markers.ts'
import type { Hunk } from './hunk.ts'
import { internLines } from './intern-lines.ts'
import { diffLines } from './line-diff.ts'
import { splitLines, type TextLines } from './lines.ts'
import { mergePieces } from './merge-plan.ts'
import { mergeRegions } from './merge-regions.ts'
import { formatPatch } from './patch.ts'
import { mergeText } from './text-merge.ts'

/** The tools that users will hold our output against; both are asked, none is imitated. */
const hasTool = (tool: string): boolean => spawnSync(tool, ['--version']).status === 0
const hasGit = hasTool('git')
const hasPatch = hasTool('patch')

/** No user settings, and no repository above: then git apply works on plain files. */
const env: NodeJS.ProcessEnv = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CEILING_DIRECTORIES: tmpdir(),
}

interface MergeCase {
  readonly base: string
  readonly ours: string
  readonly theirs: string
}

/** Removes and adds lines at a few places. `line` says what may be added. */
const edited = (base: readonly string[], line: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc
    .array(
      fc.record({
        at: fc.nat({ max: base.length }),
        remove: fc.nat({ max: 2 }),
        add: fc.array(line, { maxLength: 2 }),
      }),
      { maxLength: 3 },
    )
    .map((edits) => {
      const lines = [...base]
      for (const { at, remove, add } of edits)
        lines.splice(Math.min(at, lines.length), remove, ...add)
      return lines
    })

const asFile =
  (lineEnd: string, complete: boolean) =>
  (lines: readonly string[]): string =>
    lines.join(lineEnd) + (complete && lines.length > 0 ? lineEnd : '')

const mergeCases = (
  base: fc.Arbitrary<readonly string[]>,
  line: fc.Arbitrary<string>,
): fc.Arbitrary<MergeCase> =>
  fc.tuple(base, fc.constantFrom('\n', '\n', '\r\n')).chain(([lines, lineEnd]) => {
    const complete = fc.constantFrom(true, true, true, false)
    const file = (from: fc.Arbitrary<readonly string[]>): fc.Arbitrary<string> =>
      fc.tuple(from, complete).map(([it, end]) => asFile(lineEnd, end)(it))
    return fc.record({
      base: file(fc.constant(lines)),
      ours: file(edited(lines, line)),
      theirs: file(edited(lines, line)),
    })
  })

/**
 * Every line of the base is its own, and what is added is not in it: there is one shortest diff.
 */
const distinctCases = mergeCases(
  fc.nat({ max: 12 }).map((count) => Array.from({ length: count }, (_, i) => `${i}`)),
  fc.constantFrom('x', 'y', 'z'),
)
/**
 * Few different lines, empty ones among them: shortest diffs are many, and ours need not be git's.
 */
const repeatedLine = fc.constantFrom('', 'a', 'b')
const repeatedCases = mergeCases(fc.array(repeatedLine, { maxLength: 10 }), repeatedLine)

const samples = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number): T[] =>
  fc.sample(arbitrary, { seed: 20_240_229, numRuns })

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cairn-text-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function write(path: string, content: string | Uint8Array): void {
  const whole = join(directory, path)
  mkdirSync(dirname(whole), { recursive: true })
  writeFileSync(whole, content)
}
const read = (path: string): Uint8Array => new Uint8Array(readFileSync(join(directory, path)))
const readable = (file: Uint8Array): string => new TextDecoder().decode(file)
const withoutCr = (file: Uint8Array): string => readable(file).replaceAll('\r', '')
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

interface GitMerge {
  readonly clean: boolean
  readonly plain: Uint8Array
  readonly marked: Uint8Array
}

/** One shell for all cases: starting processes is what takes the time here. */
function gitMerges(name: string, cases: readonly MergeCase[]): GitMerge[] {
  cases.forEach((it, i) => {
    for (const side of ['base', 'ours', 'theirs'] as const) write(`${name}/${i}/${side}`, it[side])
  })
  const script = `for i in $(seq 0 ${cases.length - 1}); do (
    cd ${name}/$i
    git merge-file -q -p ours base theirs > plain; echo $? > status
    git merge-file -q -p --diff3 -L ours -L base -L theirs ours base theirs > marked
    true
  ) done`
  execFileSync('sh', ['-c', script], { cwd: directory, env })
  return cases.map((_, i) => ({
    clean: conflictCount(readFileSync(join(directory, name, `${i}/status`), 'latin1')) === 0,
    plain: read(`${name}/${i}/plain`),
    marked: read(`${name}/${i}/marked`),
  }))
}

/** Its exit status; from 128 up it is an error. */
function conflictCount(status: string): number {
  expect(Number(status)).toBeLessThan(128)
  return Number(status)
}

/** The hunks that git finds between `old/<i>` and `new/<i>`, for each i. */
function gitHunks(pairs: readonly (readonly [string, string])[]): Hunk[][] {
  pairs.forEach(([before, after], i) => {
    write(`hunks/old/${i}`, before)
    write(`hunks/new/${i}`, after)
  })
  const options = ['--no-index', '-U0', '--no-indent-heuristic', '--no-color', '--no-ext-diff']
  const { stdout } = spawnSync('git', ['diff', ...options, 'hunks/old', 'hunks/new'], {
    cwd: directory,
    env,
    encoding: 'latin1',
    maxBuffer: 2 ** 26,
  })
  const hunks: Hunk[][] = pairs.map(() => [])
  let current = -1
  for (const line of stdout.split('\n')) {
    const file = /^diff --git a\/hunks\/old\/(\d+)/.exec(line)
    if (file) current = Number(file[1])
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (hunk) hunks[current]!.push(parseHunk(hunk.slice(1)))
  }
  return hunks
}

function parseHunk([oldStart, oldLength = '1', newStart, newLength = '1']: string[]): Hunk {
  const from = (start: string | undefined, length: string): number =>
    Number(start) - (length === '0' ? 0 : 1)
  return {
    oldStart: from(oldStart, oldLength),
    oldLength: Number(oldLength),
    newStart: from(newStart, newLength),
    newLength: Number(newLength),
  }
}

// Each case starts two processes.
describe.skipIf(!hasGit)('git merge-file', { timeout: 30_000 }, () => {
  it('agrees on every merge that has one shortest diff, markers included', () => {
    const cases = samples(distinctCases, 80)
    const merges = gitMerges('distinct', cases)
    expect(new Set(merges.map(({ clean }) => clean)).size).toBe(2)
    cases.forEach(({ base, ours, theirs }, i) => {
      const { clean, plain, marked } = merges[i]!
      const files = [bytes(base), bytes(ours), bytes(theirs)] as const
      const result = mergeText(...files)
      expect(result.kind).toBe(clean ? 'merged' : 'conflict')
      if (result.kind === 'merged') expect(readable(result.bytes)).toBe(readable(plain))
      const labels = { ours: 'ours', base: 'base', theirs: 'theirs' }
      const ownMarked = markConflicts(...files, labels)
      // A declared difference: with CRLF around but an empty base, git ends its markers with LF.
      expect(ownMarked.kind === 'marked' && withoutCr(ownMarked.bytes)).toBe(withoutCr(marked))
    })
  })

  it('decides as we do on any merge, given the same two diffs', () => {
    const cases = samples(repeatedCases, 80)
    const merges = gitMerges('repeated', cases)
    const oursHunks = gitHunks(cases.map(({ base, ours }) => [base, ours]))
    const theirsHunks = gitHunks(cases.map(({ base, theirs }) => [base, theirs]))
    cases.forEach((it, i) => {
      const [base, ours, theirs] = [it.base, it.ours, it.theirs].map((file) =>
        splitLines(bytes(file)),
      ) as [TextLines, TextLines, TextLines]
      const { tokens } = internLines([ours, theirs])
      const regions = mergeRegions(
        { hunks: oursHunks[i]!, tokens: tokens[0]! },
        { hunks: theirsHunks[i]!, tokens: tokens[1]! },
      )
      const settled = mergePieces({ base, ours, theirs, regions }).filter(
        (piece) => piece.kind === 'settled',
      )
      const clean = regions.every(({ outcome }) => outcome !== 'conflict')
      expect({ ...it, clean }).toEqual({ ...it, clean: merges[i]!.clean })
      if (clean) expect(concatBytes(settled.map((piece) => piece.bytes))).toEqual(merges[i]!.plain)
    })
  })
})

describe.skipIf(!hasGit)('git diff', () => {
  it('never changes fewer lines than we do', () => {
    const pairs = samples(repeatedCases, 300).map(({ ours, theirs }) => [ours, theirs] as const)
    const size = (hunks: readonly Hunk[]): number =>
      hunks.reduce((sum, hunk) => sum + hunk.oldLength + hunk.newLength, 0)
    gitHunks(pairs).forEach((hunks, i) => {
      const [before, after] = pairs[i]!.map((file) => splitLines(bytes(file)))
      expect(size(diffLines(before!, after!))).toBeLessThanOrEqual(size(hunks))
    })
  })
})

/** Names that a patch has to quote or to end with care; numbers keep them apart. */
const awkwardNames = [
  'plain',
  'two words',
  'say "hi"',
  'back\\slash',
  'tab\there',
  'é\x01',
  'sp q"',
]

interface PatchCase {
  readonly path: string
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

const patchCases = (): PatchCase[] => {
  const random = samples(repeatedCases, 200).map(({ ours, theirs }) => [bytes(ours), bytes(theirs)])
  const long = 'x'.repeat(300_000)
  const chosen = [
    [bytes(`a\n${long}\nb\n`), bytes(`a\n${long}y\nb\n`)],
    [bytes('--- a\n+++ b\n@@ -1 +1 @@\n'), bytes('-- a\n@@ -1 +1 @@\n\\ No newline\n')],
    [Uint8Array.of(255, 10, 254), Uint8Array.of(254, 10, 255, 10)],
    [bytes('a\rb\n\r\n'), bytes('a\rb\r\n\n')],
    [bytes(`${'a\n'.repeat(5000)}\0\n`), bytes(`${'a\n'.repeat(5000)}\0\nb\n`)],
  ]
  const both = [...random, ...chosen].map(([before, after], i) => ({
    path: `d/${i} ${awkwardNames[i % awkwardNames.length]}`,
    before,
    after,
  }))
  return [
    ...both,
    { path: 'new/file', before: undefined, after: bytes('a\nb') },
    { path: 'gone file', before: bytes('a\n\n'), after: undefined },
  ]
}

describe.each([
  ['git apply', hasGit, 3, ['git', 'apply', '../all.patch']],
  ['git apply', hasGit, 1, ['git', 'apply', '../all.patch']],
  ['patch -p1', hasPatch, 3, ['patch', '-p1', '-s', '-i', '../all.patch']],
  ['patch -p1', hasPatch, 1, ['patch', '-p1', '-s', '-i', '../all.patch']],
] as const)('%s', (_, isThere, contextLines, [tool, ...args]) => {
  it.skipIf(!isThere)(`makes the new files of the old ones, with context ${contextLines}`, () => {
    const name = `${tool}-${contextLines}`
    const cases = patchCases()
    const patches = cases.map(({ path, before, after }) => {
      if (before !== undefined) write(`${name}/tree/${path}`, before)
      const bytePath = toByteString(bytes(path))
      return formatPatch(
        { path: bytePath, bytes: before },
        { path: bytePath, bytes: after },
        { contextLines },
      )
    })
    write(`${name}/all.patch`, concatBytes(patches))
    execFileSync(tool, args, { cwd: join(directory, name, 'tree'), env, stdio: 'pipe' })
    for (const { path, after } of cases) {
      if (after === undefined) expect(() => read(`${name}/tree/${path}`)).toThrow('ENOENT')
      else expect(Buffer.compare(read(`${name}/tree/${path}`), after), path).toBe(0)
    }
  })
})
