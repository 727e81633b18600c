import { expect, it } from 'vitest'
import { parsePackageList } from './install.mjs'

it('a package list has one name a line, with comments and blank lines around', () => {
  expect(parsePackageList('# needed\ngit # for tidy\n\n  curl  \n')).toEqual(['git', 'curl'])
})
