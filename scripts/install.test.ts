import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parsePackageList } from './install.mjs'

it('a package list has one name a line, with comments and blank lines around', () => {
  const list = '# needed\ngit! # for tidy\n\n  curl  \nstrace? # if there is one\n'
  const expected = { needed: ['git', 'curl'], wanted: ['strace'], examples: ['git'] }
  expect(parsePackageList(list)).toEqual(expected)
})

it('an example needs no database and no object store', () => {
  const list = readFileSync(new URL('debian-packages.txt', import.meta.url), 'utf8')
  expect(parsePackageList(list).examples).toEqual(['git', 'gcc', 'libc6-dev'])
})
