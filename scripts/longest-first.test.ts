import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { longFiles } from './longest-first.mjs'

it('every file that is started early is there', () => {
  expect(longFiles.filter((path) => !existsSync(path))).toEqual([])
})
