import { mkdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { caches } from './questions/caches.ts'
import { clients } from './questions/clients.ts'
import { data } from './questions/data.ts'
import { handles } from './questions/handles.ts'
import { names, status } from './questions/names.ts'
import { Place } from './questions/place.ts'
import type { TwoMountQuestion } from './questions/question.ts'
import { remount } from './questions/remount.ts'
import { visibility } from './questions/visibility.ts'

describe.skipIf(noMount)('questions that only mounts can be asked', () => {
  let site: Site
  let a: SiteMount
  let b: SiteMount
  let count = 0

  beforeAll(async () => {
    site = await Site.open()
    a = await site.mount('/')
    b = await site.mount('/')
  })
  afterAll(() => site.close())

  function askAll(family: string, questions: readonly TwoMountQuestion[], inRoot = false): void {
    describe(family, () => {
      for (const { fact, ask, expect: expected, todo } of questions)
        it(todo === undefined ? fact : `${fact} (not yet: ${todo})`, async () => {
          const name = inRoot ? '.' : `q${count++}`
          if (!inRoot) mkdirSync(a.path(name))
          const seen = await ask(new Place(a.path(name)), new Place(b.path(name)))
          if (todo === undefined) expect(seen).toEqual(expected)
          else expect(isDeepStrictEqual(seen, expected), 'it holds by now').toBe(false)
        })
    })
  }

  askAll('two mounts', visibility)
  askAll('open files', handles)
  askAll('caches', caches)
  askAll('bytes', data)
  askAll('several clients', clients)
  askAll('names', names)
  askAll('the status directory', status, true)
})

describe.skipIf(noMount)('what a later mount finds', () => {
  let site: Site
  let later: SiteMount
  const made: unknown[] = []

  beforeAll(async () => {
    site = await Site.open()
    const earlier = await site.mount('/')
    for (const [index, { make }] of remount.entries()) {
      mkdirSync(earlier.path(`q${index}`))
      made.push(make(new Place(earlier.path(`q${index}`))))
    }
    await earlier.unmount()
    later = await site.mount('/')
  })
  afterAll(() => site.close())

  for (const [index, { fact, look, todo, ...question }] of remount.entries())
    it(todo === undefined ? fact : `${fact} (not yet: ${todo})`, () => {
      const seen = look(new Place(later.path(`q${index}`)))
      const expected = 'expect' in question ? question.expect : made[index]
      if (todo === undefined) expect(seen).toEqual(expected)
      else expect(isDeepStrictEqual(seen, expected), 'it holds by now').toBe(false)
    })
})
