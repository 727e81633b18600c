// What is closed on a mount of one server is there when it is opened on a mount of another.
import { type MysqlServer, startMysql, whyNoMysql } from '@cairn/server/testing'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from '../mount/fixture.ts'

const missing = whyNoMysql ?? noMount
const rounds = 20 * Number(process.env['CAIRN_RUNS'] ?? 1)

describe.skipIf(missing !== undefined)(`mounts of two servers ${missing ?? ''}`, () => {
  let mysql: MysqlServer
  const sites: Site[] = []
  let a: SiteMount
  let b: SiteMount

  beforeAll(async () => {
    mysql = await startMysql()
    sites.push(await Site.open({ meta: await mysql.createDatabase() }))
    sites.push(await Site.openBeside(sites[0]!))
    a = await sites[0]!.mount('/')
  }, 180_000)

  afterAll(async () => {
    for (const site of sites) await site.close()
    await mysql?.stop()
  }, 120_000)

  it('the first change after the second mount is seen there', async () => {
    b = await sites[1]!.mount('/')
    mkdirSync(a.path('first'))
    expect(existsSync(b.path('first'))).toBe(true)
  })

  it('what was closed on one is there when it is opened on the other', () => {
    for (let round = 0; round < rounds; round++) {
      const [from, to] = round % 2 === 0 ? [a, b] : [b, a]
      writeFileSync(from.path('letter'), `round ${round}`)
      expect(readFileSync(to.path('letter'), 'utf8')).toBe(`round ${round}`)
      mkdirSync(from.path(`d${round}`))
      expect(existsSync(to.path(`d${round}`))).toBe(true)
    }
  })

  it('a change by HTTP is seen on both', async () => {
    for (const [round, site] of sites.entries()) {
      const url = `${site.url}/v1/workspaces/demo/files/by-http`
      const headers = { authorization: `Bearer ${site.key}` }
      const answer = await fetch(url, { method: 'PUT', headers, body: `by ${round}` })
      expect(answer.ok).toBe(true)
      for (const mount of [a, b])
        expect(readFileSync(mount.path('by-http'), 'utf8')).toBe(`by ${round}`)
    }
  })
})
