import { mkdirSync, renameSync, statSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site } from '../mount/fixture.ts'

const levelsBelow = (top: string, levels: number): string => `${top}${'/d'.repeat(levels - 1)}`

describe.skipIf(noMount)('a deep tree, in a mount', { timeout: 120_000 }, () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(() => site.close())

  /** Made over HTTP: through a mount, each level costs as many look-ups as it is deep. */
  async function makeDirectories(path: string): Promise<void> {
    const url = `${site.url}/v1/workspaces/demo/files/${path}?mkdir`
    const headers = { authorization: `Bearer ${site.key}` }
    const answer = await fetch(url, { method: 'POST', headers, body: '{"parents":true}' })
    expect(answer.status).toBe(200)
  }

  it('the only writer: 1,000 levels and no more, made or moved', async () => {
    await makeDirectories(levelsBelow('upper', 990))
    await makeDirectories(levelsBelow('lower', 11))
    const mount = await site.mount()
    const upper = mount.path(levelsBelow('upper', 990))
    expect(() => renameSync(mount.path('lower'), `${upper}/moved`)).toThrow('ENAMETOOLONG')
    renameSync(mount.path('lower/d'), `${upper}/moved`)
    const last = `${upper}/${levelsBelow('moved', 10)}`
    expect(statSync(last).isDirectory()).toBe(true)
    expect(() => mkdirSync(`${last}/more`)).toThrow('ENAMETOOLONG')
    await mount.drain()
    expect((await mount.status()).errors).toEqual([])
  })
})
