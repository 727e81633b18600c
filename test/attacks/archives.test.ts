// An archive is a list of names and sizes that its sender made up. It writes only below its directory, only what its
// token may write, and takes bounded time and memory.
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { paxOf, tarOf } from '@cairn/server/testing'
import { Site } from './site.ts'

const everything = ['read', 'list', 'write', 'delete']

describe('an archive', () => {
  let site: Site
  beforeAll(async () => {
    site = await Site.open(['/in/a', '/out/a', '/drop/a'], 60_000)
  })
  afterAll(() => site.close())

  const bring = async (body: Buffer, key?: string, path = '/in'): Promise<[number, string]> => {
    const headers = key === undefined ? site.ownerHeaders : { authorization: `Bearer ${key}` }
    const url = `${site.server.url}/v1/workspaces/w/files${path}?import`
    const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })
    const json = (await answer.json()) as { error?: { code: string; errno?: string } }
    return [answer.status, json.error?.errno ?? json.error?.code ?? 'done']
  }

  const wrong: readonly (readonly [title: string, body: () => Buffer, outcome: string])[] = [
    ['a name with ..', () => tarOf([{ path: '../out/x' }]), 'malformed'],
    ['.. in the middle', () => tarOf([{ path: 'b/../../out/x' }]), 'malformed'],
    ['a hard link to ..', () => tarOf([{ path: 'x', flag: '1', target: '../out/a' }]), 'malformed'],
    [
      'a path through a symlink that it made',
      () => tarOf([{ path: 'l', flag: '2', target: '/out' }, { path: 'l/x' }]),
      'ENOTDIR',
    ],
    [
      'a name with a zero byte',
      () => Buffer.concat([paxOf({ path: 'x\0y' }), tarOf([{ path: 'x' }])]),
      'malformed',
    ],
    ['a name of 300 bytes', () => tarOf([{ path: 'n'.repeat(300) }]), 'malformed'],
    ['a path of 100,000 levels', () => tarOf([{ path: 'a/'.repeat(100_000) }]), 'malformed'],
    ['a path of 1,500 levels', () => tarOf([{ path: 'b/'.repeat(1500) }]), 'ENAMETOOLONG'],
    ['a device', () => tarOf([{ path: 'd', flag: '3' }]), 'malformed'],
    ['more content than it has', () => tarOf([{ path: 'x', size: 8 ** 10 }]), 'malformed'],
    [
      'a size that is no size',
      () => Buffer.concat([paxOf({ size: '-1' }), tarOf([{ path: 'x' }])]),
      'malformed',
    ],
    [
      'a size beyond the largest file',
      () => Buffer.concat([paxOf({ size: String(2 ** 52) }), tarOf([{ path: 'x' }])]),
      'malformed',
    ],
    ['a time beyond all times', () => farFuture(), 'malformed'],
  ]

  it.each(wrong)('%s: refused whole', async (_title, body, outcome) => {
    const [status, code] = await bring(body())
    expect(code).toBe(outcome)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(await site.owner('GET', '/w/files/?list&recursive')).not.toContain('"/in/x')
  })

  it('an absolute path: below its directory', async () => {
    expect(await bring(tarOf([{ path: '/out/absolute' }]))).toEqual([200, 'done'])
    expect(await site.read('/in/out/absolute')).toBe('')
  })

  it('names that change with each entry of global headers: kept no longer than the entry', async () => {
    const records = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 'v']))
    const body = Buffer.concat([paxOf(records, 'g'), tarOf([{ path: 'after-global' }])])
    expect(await bring(body)).toEqual([200, 'done'])
  })

  it('a few kilobytes that unpack to more than the budget: refused while they arrive', async () => {
    const key = await site.issue([{ path: '/in', operations: everything }], { maxBytes: 1000 })
    const body = gzipSync(tarOf([{ path: 'zeros', content: '\0'.repeat(32 << 20) }]))
    expect(await bring(body, key)).toEqual([507, 'EDQUOT'])
  })

  it('more files than the budget: refused whole', async () => {
    const key = await site.issue([{ path: '/in', operations: everything }], { maxFiles: 2 })
    const body = tarOf(['p', 'q', 'r'].map((path) => ({ path })))
    expect(await bring(body, key)).toEqual([507, 'EDQUOT'])
  })

  it('from a token that only reads, or to a path of others: refused', async () => {
    const reader = await site.issue([{ path: '/in', operations: ['read', 'list'] }])
    expect((await bring(tarOf([{ path: 'x' }]), reader))[0]).toBe(403)
    const writer = await site.issue([{ path: '/in', operations: everything }])
    expect((await bring(tarOf([{ path: 'x' }]), writer, '/out'))[0]).toBeGreaterThanOrEqual(403)
    expect((await bring(tarOf([{ path: 'out/x' }]), writer, '/'))[0]).toBeGreaterThanOrEqual(403)
  })

  it('an archive of a directory that the token may not list names none of its files', async () => {
    const key = await site.issue([
      { path: '/in', operations: everything },
      { path: '/drop', operations: ['write'] },
    ])
    await site.owner('POST', '/w/files/in/way?symlink', { target: '/drop' })
    await site.owner('DELETE', '/w/files/drop/a')
    await site.owner('POST', '/w/files/drop/hushed?mkdir', {})
    for (const path of ['/', '/in/way', '/drop']) {
      const url = `${site.server.url}/v1/workspaces/w/files${path}?archive=tar`
      const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
      expect(await answer.text(), path).not.toContain('hushed')
    }
  })
})

function farFuture(): Buffer {
  const body = tarOf([{ path: 'x' }])
  body.fill(0x7f, 137, 148)
  body[136] = 0x80
  body.write('        ', 148)
  const sum = body.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  body.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return body
}
