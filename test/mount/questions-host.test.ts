import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caches } from './questions/caches.ts'
import { clients } from './questions/clients.ts'
import { data } from './questions/data.ts'
import { handles } from './questions/handles.ts'
import { names } from './questions/names.ts'
import { Place } from './questions/place.ts'
import { visibility } from './questions/visibility.ts'

/** Two mounts must look like one directory. So the host answers first, with one directory in the place of both. */
describe('what two mounts are asked, asked of the host', () => {
  let host: string
  let count = 0

  beforeAll(() => {
    host = mkdtempSync(join(tmpdir(), 'cairn-host-'))
  })
  afterAll(() => rmSync(host, { recursive: true }))

  for (const { fact, ask, expect: expected, ofOurs } of [
    ...visibility,
    ...handles,
    ...caches,
    ...data,
    ...clients,
    ...names,
  ])
    it.skipIf(ofOurs)(ofOurs === undefined ? fact : `${fact} (${ofOurs})`, async () => {
      const place = new Place(join(host, `q${count++}`))
      mkdirSync(place.directory)
      expect(await ask(place, place)).toEqual(expected)
    })
})
