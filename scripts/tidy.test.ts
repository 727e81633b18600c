// The rules of this repository that no linter knows. Each carries examples that break it, which show the
// rule to its readers and prove that it still sees.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { dialectMax, findDialect } from './tidy/dialect.ts'
import { findFolderCycles } from './tidy/folder-cycles.ts'
import { importRules } from './tidy/import-rules.ts'
import { findViolations } from './tidy/rule.ts'
import type { ProjectFile } from './tidy/rule.ts'
import { findSharedDoorNames, findSharedNames } from './tidy/unique-names.ts'
import { textRules } from './tidy/text-rules.ts'

const files = readProjectFiles()

describe.each([...importRules, ...textRules])('$fact', (rule) => {
  it('holds for every file', () => {
    expect(findViolations(rule, files).join('\n')).toBe('')
  })

  it.each(Object.entries(rule.broken))(
    'the rule is broken by %s: told once, with the remedy',
    (path, text) => {
      const [message, ...others] = findViolations(rule, [{ path, text }])
      expect(message).toContain(`${path}:`)
      expect(message).toContain(rule.remedy)
      expect(others).toEqual([])
    },
  )

  it.each(Object.entries(rule.kept))('the rule is kept by %s', (path, text) => {
    expect(findViolations(rule, [{ path, text }])).toEqual([])
  })
})

it('no two folders of a package import each other, directly or through others', () => {
  expect(findFolderCycles(files).join('\n')).toBe('')
})

describe('prose names who acts', () => {
  it(`in all but ${dialectMax} places, and that number only shrinks`, () => {
    const places = findDialect(files)
    const remedy =
      'Say who acts: the caller, the client, the user, another mount. Begin a comment with a noun or a verb.'
    expect(places.length > dialectMax ? `${remedy}\n${places.join('\n')}` : '').toBe('')
  })

  it.each([
    ['// Nobody waits for it.', 1],
    ['/** Of a token: its scope. */', 1],
    ['  // Of two writers, whoever is first.', 2],
    ['/** Of course it may. */ const nobodyHome = 1', 0],
    ['`Of` is a word, and this is one of a token.', 0],
  ])('%s has %d', (text, count) => {
    expect(findDialect([{ path: 'a.ts', text }])).toHaveLength(count)
  })
})

it('no two packages export a type or class of the same name', () => {
  expect(findSharedNames(files).join('\n')).toBe('')
})

it('no two packages export different things under one name', () => {
  expect(findSharedDoorNames(files).join('\n')).toBe('')
})

/** Whatever git tracks or would track: the rules hold before a commit, too. */
function readProjectFiles(): ProjectFile[] {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  // A checkout may belong to another user than the one who tests it; git would refuse to list it.
  const paths = execFileSync('git', ['-c', 'safe.directory=*', ...list], { encoding: 'utf8' })
  return [...new Set(paths.split('\0'))]
    .filter((path) => path !== '' && existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}
