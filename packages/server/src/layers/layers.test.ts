import type { LayerInfo, Page, CommitReceipt } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { cutOnce } from '../../test/cut-once.ts'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'
import { MemoryLayerStore } from '../testing/memory-layer-store.ts'
import type { Answer, MemoryServer } from '../testing/memory-servers.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
})

describe('a layer', () => {
  it('stands on a frozen base: neither side sees the other', async () => {
    const layer = await fixture.create({ name: 'a', tags: { agent: 'x' } })
    expect(layer).toMatchObject({ name: 'a', parent: 'main', path: '/repo', state: 'open' })
    await fixture.write('/repo/a.txt', 'layer\n', 'a')
    await fixture.write('/repo/b.txt', 'main\n')
    await fixture.write('/repo/new.txt', 'new\n')
    expect(await fixture.read('/repo/a.txt')).toBe('one\n')
    expect(await fixture.read('/repo/a.txt', 'layer=a')).toBe('layer\n')
    expect(await fixture.read('/repo/b.txt', 'layer=a')).toBe('bee\n')
    expect(await fixture.read('/repo/new.txt', 'layer=a')).toBe(undefined)
  })

  it('siblings commit under a running attempt, and not a byte of it changes', async () => {
    await fixture.create({ name: 'a' })
    await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'from a\n', 'a')
    await ok(fixture.post('/a/commit'))
    expect(await fixture.read('/repo/a.txt')).toBe('from a\n')
    expect(await fixture.read('/repo/a.txt', 'layer=b')).toBe('one\n')
    await ok(fixture.post('/b/rebase'))
    expect(await fixture.read('/repo/a.txt', 'layer=b')).toBe('from a\n')
  })

  it('takes writes at its own path only', async () => {
    await fixture.create({ name: 'a' })
    const outside = await fixture.write('/else.txt', 'x', 'a')
    expect([outside.status, outside.json.error.code, outside.json.error.subject]).toEqual([
      403,
      'outside_layer',
      '/else.txt',
    ])
    const rename = fixture.server.call('POST', '/w/files/repo/a.txt?move&layer=a', {
      to: '/out.txt',
    })
    expect((await refused(rename)).code).toBe('outside_layer')
    expect((await fixture.write('/repo/deep/er/c.txt', 'x', 'a')).status).toBe(201)
  })

  it('may be of a path that is not there yet', async () => {
    await fixture.create({ name: 'a', path: '/fresh/dir' })
    expect((await fixture.write('/fresh/dir/x', 'x', 'a')).status).toBe(201)
    expect((await fixture.write('/fresh/y', 'x', 'a')).json.error.code).toBe('outside_layer')
    await ok(fixture.post('/a/commit'))
    expect(await fixture.read('/fresh/dir/x')).toBe('x')
  })

  it('a taken name or id is refused', async () => {
    await fixture.create({ name: 'a', id: 'one' })
    for (const body of [
      { name: 'a' },
      { name: 'one' },
      { id: 'one' },
      { id: 'a' },
      { name: 'main' },
    ])
      expect((await refused(fixture.post('', body))).code).toBe('branch_exists')
  })

  it('the same key gives the same layer, also from two servers at once', async () => {
    const body = { path: '/repo', name: 'a' }
    const ask = (on: MemoryServer): Promise<Answer<LayerInfo>> =>
      on.call<LayerInfo>('POST', '/w/layers', body, { 'idempotency-key': 'k' })
    const [one, two] = await Promise.all([ask(fixture.server), ask(fixture.other)])
    expect(two.json).toEqual(one.json)
    expect((await ask(fixture.server)).json).toEqual(one.json)
  })

  it('a layer is listed by tag, state and parent, in pages', async () => {
    const a = await fixture.create({ name: 'a', tags: { k: '1' } })
    const b = await fixture.create({ name: 'b', tags: { k: '1' } })
    await fixture.create({ name: 'c', parent: 'a' })
    await ok(fixture.post('/b/abandon'))
    const list = async (query: string): Promise<(string | undefined)[]> =>
      (await fixture.server.call<Page<LayerInfo>>('GET', `/w/layers?${query}`)).json.items.map(
        ({ name }) => name,
      )
    expect(await list('')).toEqual(['a', 'b', 'c'])
    expect(await list('tag=k%3D1&state=open')).toEqual(['a'])
    expect(await list('state=abandoned')).toEqual(['b'])
    expect(await list('parent=a')).toEqual(['c'])
    const page = (await fixture.server.call<Page<LayerInfo>>('GET', '/w/layers?limit=2')).json
    expect(page.items.map(({ id }) => id)).toEqual([a.id, b.id])
    expect(await list(`cursor=${encodeURIComponent(page.next!)}`)).toEqual(['c'])
  })

  it('a layer is renamed and tagged anew', async () => {
    const { id } = await fixture.create({ name: 'a', tags: { k: '1', gone: 'x' } })
    const changed = await ok(
      fixture.server.call<LayerInfo>('PATCH', '/w/layers/a', {
        name: 'z',
        tags: { k: '2', gone: null },
      }),
    )
    expect(changed).toMatchObject({ id, name: 'z', tags: { k: '2' } })
    expect((await fixture.status('k=2')).id).toBe(id)
    expect((await refused(fixture.server.call('GET', '/w/layers/a'))).code).toBe('branch_missing')
  })

  it('abandoned takes no writes, and can be brought back', async () => {
    await fixture.create({ name: 'a' })
    await ok(fixture.post('/a/abandon'))
    expect((await fixture.write('/repo/a.txt', 'x', 'a')).json.error.code).toBe('layer_closed')
    expect(await ok(fixture.post('/a/reopen'))).toMatchObject({ state: 'open' })
    expect((await fixture.write('/repo/a.txt', 'x', 'a')).status).toBe(200)
  })

  it('a layer is deleted with those that stand on it, or not at all', async () => {
    const a = await fixture.create({ name: 'a' })
    const b = await fixture.create({ name: 'b', parent: 'a' })
    const c = await fixture.create({ name: 'c', parent: 'b' })
    expect(await refused(fixture.server.call('DELETE', '/w/layers/a'))).toMatchObject({
      code: 'layer_in_use',
    })
    expect(await ok(fixture.server.call('DELETE', '/w/layers/a?cascade'))).toEqual({
      deleted: [c.id, b.id, a.id],
    })
    expect((await refused(fixture.server.call('GET', '/w/files/repo?list&layer=b'))).code).toBe(
      'branch_missing',
    )
    await fixture.create({ name: 'a' })
  })
})

describe('a closed layer whose closing was not recorded', () => {
  beforeEach(async () => {
    for (const name of ['a', 'b', 'c']) await fixture.create({ name })
    for (const name of ['a', 'b']) await fixture.write('/repo/a.txt', name, name)
  })

  afterEach(() => vi.restoreAllMocks())

  it.each(['commit', 'abandon'])('%s: is listed as over, and is no rival', async (verb) => {
    cutOnce(MemoryLayerStore, 'update')
    expect((await refused(fixture.post(`/a/${verb}`))).code).toBe('storage_unavailable')
    expect((await fixture.status('b')).overlaps.map((overlap) => overlap.name)).not.toContain('a')
    const list = async (query: string): Promise<(string | undefined)[]> =>
      (await ok(fixture.server.call<Page<LayerInfo>>('GET', `/w/layers?${query}`))).items.map(
        ({ name, expiresAt }) => (expiresAt === undefined ? name : `${name} goes`),
      )
    expect(await list('state=open')).toEqual(['b', 'c'])
    expect(await list('')).toEqual(['a goes', 'b', 'c'])
  })
})

describe('references', () => {
  it('by id, name, tag and label', async () => {
    const { id } = await fixture.create({ name: 'a', tags: { agent: 'x' } })
    await ok(fixture.post('/a/checkpoints', { label: 'pass' }))
    for (const reference of [id, 'a', 'agent=x', 'tag:agent=x', 'pass'])
      expect((await fixture.status(encodeURIComponent(reference))).id).toBe(id)
  })

  it('ambiguous: the candidates are told; what is open comes before what is over', async () => {
    const a = await fixture.create({ name: 'a', tags: { k: '1' } })
    const b = await fixture.create({ name: 'b', tags: { k: '1' } })
    const error = await refused(fixture.server.call('GET', '/w/layers/k%3D1'))
    expect([error.code, error.candidates]).toEqual([
      'reference_ambiguous',
      [`${a.id} (a, open)`, `${b.id} (b, open)`],
    ])
    await ok(fixture.post('/a/abandon'))
    expect((await fixture.status('k%3D1')).id).toBe(b.id)
  })

  it.each(['open', 'conflicted'])('a hundred that are over do not hide one %s', async (state) => {
    for (let index = 0; index < 100; index++) {
      const { id } = await fixture.create({ tags: { k: '1' } })
      await ok(fixture.post(`/${id}/abandon`))
    }
    const { id } = await fixture.create({ tags: { k: '1' } })
    if (state === 'conflicted') {
      await fixture.write('/repo/a.txt', 'layer', id)
      await fixture.write('/repo/a.txt', 'main')
      await refused(fixture.post(`/${id}/commit`))
    }
    expect(await fixture.status('k%3D1')).toMatchObject({ id, state })
  })

  it('a label on two layers, and one twice on a layer, are ambiguous', async () => {
    for (const name of ['a', 'b']) {
      await fixture.create({ name })
      await ok(fixture.post(`/${name}/checkpoints`, { label: 'pass' }))
    }
    expect((await refused(fixture.server.call('GET', '/w/layers/pass'))).candidates).toHaveLength(2)
    await ok(fixture.post('/a/checkpoints', { label: 'pass' }))
    const error = await refused(fixture.post('/a/rollback', { to: 'pass' }))
    expect([error.code, error.candidates?.length]).toEqual(['reference_ambiguous', 2])
  })

  it('nothing of that name', async () => {
    expect((await refused(fixture.server.call('GET', '/w/layers/nope'))).code).toBe(
      'branch_missing',
    )
    await fixture.create({ name: 'a' })
    expect((await refused(fixture.post('/a/rollback', { to: 'x' }))).code).toBe(
      'checkpoint_missing',
    )
    expect((await refused(fixture.post('/main/commit'))).code).toBe('invalid_argument')
  })
})

describe('layers on layers', () => {
  it('32 deep: a server that remembers nothing asks its stores no more than of the first', async () => {
    let parent = 'main'
    for (let depth = 1; depth <= 32; depth++) {
      const name = `l${depth}`
      await fixture.create({ name, parent })
      await fixture.write('/repo/a.txt', name, name)
      // What is folded has no log to be read; the others are, for the layer on them.
      if (depth === 32) await ok(fixture.post(`/${name}/checkpoints`))
      parent = name
    }
    const costOf = async (layer: string, url: string): Promise<number> => {
      const server = fixture.servers.open()
      await server.call('GET', '/w')
      const before = fixture.servers.asked()
      const { status, body } = await server.call('GET', `/w/files/repo${url}&layer=${layer}`)
      expect(status, body).toBe(200)
      return fixture.servers.asked() - before
    }
    for (const url of ['/a.txt?', '/b.txt?', '/a.txt?stat', '?list']) {
      const first = await costOf('l1', url)
      expect(first).toBeGreaterThan(3)
      expect([url, await costOf('l32', url)]).toEqual([url, first])
    }
  })

  it('32 deep: what each wrote is there, and commits go up one by one', async () => {
    let parent = 'main'
    for (let depth = 1; depth <= 32; depth++) {
      const name = `l${depth}`
      await fixture.create({ name, parent })
      await fixture.write(`/repo/${name}`, name, name)
      parent = name
    }
    expect(await fixture.read('/repo/l1', 'layer=l32')).toBe('l1')
    const chain = await ok(fixture.server.call<Page<LayerInfo>>('GET', '/w/layers/l32/chain'))
    expect(chain.items.map(({ name }) => name)).toEqual(
      Array.from({ length: 32 }, (_, at) => `l${at + 1}`),
    )
    for (let depth = 32; depth >= 1; depth--) await ok(fixture.post(`/l${depth}/commit`))
    expect(await fixture.read('/repo/l32')).toBe('l32')
  })

  it('a child lies inside its parent', async () => {
    await fixture.create({ name: 'a' })
    expect((await refused(fixture.post('', { parent: 'a', path: '/' }))).code).toBe('outside_layer')
    expect(await fixture.create({ name: 'b', parent: 'a', path: '/repo/sub' })).toMatchObject({
      path: '/repo/sub',
    })
  })

  it("a layer whose parent was committed commits to where the parent's work went", async () => {
    await fixture.create({ name: 'plan' })
    await fixture.write('/repo/plan.txt', 'plan', 'plan')
    await fixture.create({ name: 'step', parent: 'plan' })
    await fixture.create({ name: 'done', parent: 'plan' })
    await fixture.write('/repo/done.txt', 'done', 'done')
    const first = await ok(fixture.post<CommitReceipt>('/done/commit'))
    await ok(fixture.post('/plan/commit'))
    await fixture.write('/repo/step.txt', 'step', 'step')
    expect(await ok(fixture.post('/step/commit'))).toMatchObject({
      target: 'main',
      paths: [{ path: '/repo/step.txt' }],
    })
    expect(await fixture.read('/repo/done.txt')).toBe('done')
    expect(await ok(fixture.post('/done/commit'))).toEqual(first)
  })

  it('from a checkpoint of its parent', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    await ok(fixture.post('/a/checkpoints', { label: 'pass' }))
    await fixture.write('/repo/a.txt', 'three\n', 'a')
    await fixture.create({ name: 'b', parent: 'a', at: 'pass' })
    await fixture.create({ name: 'c', parent: 'pass' })
    for (const layer of ['b', 'c'])
      expect(await fixture.read('/repo/a.txt', `layer=${layer}`)).toBe('two\n')
  })
})

describe('status', () => {
  it('shows which of its paths the parent and siblings also changed', async () => {
    await fixture.create({ name: 'a' })
    const b = await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'a', 'a')
    await fixture.write('/repo/b.txt', 'a', 'a')
    await fixture.write('/repo/b.txt', 'b', 'b')
    await fixture.write('/repo/c.txt', 'b', 'b')
    expect((await fixture.status('a')).overlaps).toEqual([
      { path: '/repo/b.txt', with: b.id, name: 'b', kind: 'modified' },
    ])
    await ok(fixture.post('/b/commit'))
    expect(await fixture.status('a')).toMatchObject({
      behind: true,
      overlaps: [{ path: '/repo/b.txt', with: 'main', kind: 'modified' }],
      conflicts: [{ path: '/repo/b.txt', kind: 'edit/edit' }],
    })
  })
})

describe('a fork of a workspace', () => {
  it('starts from a point of another and lives on its own', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    const fork = (name: string, query = '', key = name): Promise<Answer<{ id: string }>> =>
      fixture.server.call('POST', `/w/fork?${query}`, { name }, { 'idempotency-key': key })
    const { id } = await ok(fork('w2'))
    expect((await ok(fork('w2'))).id).toBe(id)
    await ok(fork('w3', 'layer=a'))
    expect((await refused(fork('w2', '', 'again'))).code).toBe('workspace_exists')
    const readOf = async (workspace: string): Promise<string> =>
      (await fixture.server.call('GET', `/${workspace}/files/repo/a.txt`)).body
    expect([await readOf('w2'), await readOf('w3')]).toEqual(['one\n', 'two\n'])
    await fixture.server.call('PUT', '/w2/files/repo/a.txt', 'other\n')
    await fixture.server.call('PUT', '/w2/files/repo/new.txt', 'new\n')
    expect(await readOf('w')).toBe('one\n')
    await fixture.server.call('DELETE', '/w')
    expect([await readOf('w2'), await readOf('w3')]).toEqual(['other\n', 'two\n'])
  })
})
