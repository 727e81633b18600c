import type {
  ChangeReceipt,
  FileEntry,
  FileStat,
  IssuedToken,
  LayerConflict,
  Page,
} from '@cairn/protocol'
import type { LightMyRequestResponse } from 'fastify'
import { beforeEach, describe, expect, it } from 'vitest'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'
import { memoryDoor, secret } from '../../test/memory-door.ts'

const files = '/w/files'
let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
})

function tag(path: string, tags: object, query = ''): ReturnType<LayerFixture['server']['call']> {
  return fixture.server.call<ChangeReceipt>('POST', `${files}${path}?tag${query}`, { tags })
}

async function tagsOf(path: string, query = ''): Promise<FileStat['tags']> {
  const url = `${files}${path}?stat${query}`
  return (await ok(fixture.server.call<FileStat>('GET', url))).tags
}

describe('tags of files', () => {
  it('tags of files are set, changed and taken away, and those that are not named stay', async () => {
    await ok(tag('/repo/a.txt', { reviewed: 'yes', by: 'agent 17', empty: '' }))
    await ok(tag('/repo/a.txt', { by: null, reviewed: 'no', absent: null }))
    expect(await tagsOf('/repo/a.txt')).toEqual({ empty: '', reviewed: 'no' })
    await ok(tag('/repo', { owner: 'é=1' }))
    expect(await tagsOf('/repo')).toEqual({ owner: 'é=1' })
    const list = await ok(fixture.server.call<Page<FileEntry>>('GET', `${files}/repo?list`))
    expect(list.items.find(({ name }) => name === 'a.txt')?.tags).toEqual({
      empty: '',
      reviewed: 'no',
    })
  })

  it('come with the content that is written, in one step', async () => {
    await ok(fixture.server.call('PUT', `${files}/new.txt?tag=agent%3Da&tag=k%3Dv%3Dw`, 'text'))
    expect(await tagsOf('/new.txt')).toEqual({ agent: 'a', k: 'v=w' })
    await ok(fixture.server.call('PUT', `${files}/new.txt?tag=agent%3Db`, 'text'))
    expect(await tagsOf('/new.txt')).toEqual({ agent: 'b', k: 'v=w' })
    const operations = [{ op: 'write', path: '/batch.txt', text: '', tags: { agent: 'c' } }]
    await ok(fixture.server.call('POST', '/w/batch', { operations }))
    expect(await tagsOf('/batch.txt')).toEqual({ agent: 'c' })
  })

  it('tags of files have limits, and a change beyond them changes nothing', async () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`k${at}`, 'v']))
    expect(await refused(tag('/repo/a.txt', many))).toMatchObject({
      code: 'invalid_argument',
      reason: 'it would have 33 tags, and 32 is the most',
    })
    for (const bad of [{ 'a=b': 'v' }, { '': 'v' }, { k: 'x'.repeat(257) }, { k: 'a\nb' }])
      expect((await refused(tag('/repo/a.txt', bad))).code).toBe('invalid_argument')
    expect(await tagsOf('/repo/a.txt')).toBeUndefined()
    await ok(tag('/repo/a.txt', { ['é'.repeat(60)]: 'x'.repeat(256) }))
  })

  it('belong to a layer until it is committed, merge one by one, and roll back', async () => {
    await ok(tag('/repo/a.txt', { reviewed: 'no' }))
    await fixture.create({ name: 'l' })
    await ok(tag('/repo/a.txt', { reviewed: 'yes' }, '&layer=l'))
    await ok(tag('/repo/a.txt', { owner: 'main' }))
    expect(await tagsOf('/repo/a.txt')).toEqual({ owner: 'main', reviewed: 'no' })
    expect(await tagsOf('/repo/a.txt', '&layer=l')).toEqual({ reviewed: 'yes' })
    await ok(fixture.post('/l/checkpoints', { label: 'then' }))
    await ok(tag('/repo/a.txt', { reviewed: null }, '&layer=l'))
    await ok(fixture.post('/l/rollback', { to: 'then' }))
    await ok(fixture.post('/l/commit'))
    expect(await tagsOf('/repo/a.txt')).toEqual({ owner: 'main', reviewed: 'yes' })
  })

  it('tags of files that both sides set to different values are a conflict', async () => {
    await fixture.create({ name: 'l' })
    await ok(tag('/repo/a.txt', { verdict: 'good' }, '&layer=l'))
    await ok(tag('/repo/a.txt', { verdict: 'bad' }))
    const { conflicts } = (await refused(fixture.post('/l/commit'))) as unknown as {
      conflicts: readonly LayerConflict[]
    }
    expect(conflicts).toMatchObject([{ kind: 'mode', path: '/repo/a.txt' }])
    expect(await tagsOf('/repo/a.txt')).toEqual({ verdict: 'bad' })
    await ok(fixture.post('/l/resolve', { path: '/repo/a.txt', take: 'layer' }))
    await ok(fixture.post('/l/commit'))
    expect(await tagsOf('/repo/a.txt')).toEqual({ verdict: 'good' })
  })

  it('take the right to write, and are seen with what else is known of a file', async () => {
    const app = memoryDoor()
    const call = (url: string, payload: object, key = secret): Promise<LightMyRequestResponse> =>
      app.inject({ method: 'POST', url, headers: { authorization: `Bearer ${key}` }, payload })
    await call('/v1/workspaces', { name: 'w' })
    const root = '/v1/workspaces/w'
    const operations = ['/repo/a.txt', '/repo/b.txt'].map((path) => ({
      op: 'write',
      path,
      text: '',
      tags: { of: path },
      parents: true,
    }))
    await call(`${root}/batch`, { operations })
    const issue = async (rights: readonly string[]): Promise<string> => {
      const allow = [{ path: '/repo/a.txt', operations: rights }]
      const issued = await call(`${root}/tokens`, { name: 't', ttlMs: 60_000, allow })
      return issued.json<IssuedToken>().secret
    }
    const [reader, writer] = [await issue(['read']), await issue(['read', 'write'])]
    const attempt = async (path: string, key: string): Promise<object> =>
      (await call(`${root}/files${path}?tag`, { tags: { k: 'v' } }, key)).json<object>()
    expect(await attempt('/repo/a.txt', reader)).toMatchObject({ error: { code: 'forbidden' } })
    expect(await attempt('/repo/b.txt', writer)).toMatchObject({ error: { errno: 'ENOENT' } })
    expect(await attempt('/repo/a.txt', writer)).toMatchObject({
      stat: { tags: { k: 'v', of: '/repo/a.txt' } },
    })
  })
})
