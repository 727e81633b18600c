import { expect, it } from 'vitest'
import { parsePackageList } from './install.mjs'

it('a package list has one name a line, with comments and blank lines around', () => {
  const list = '# needed\ngit # for tidy\n\n  curl  \nstrace? # if there is one\n'
  expect(parsePackageList(list)).toEqual({ needed: ['git', 'curl'], wanted: ['strace'] })
})
