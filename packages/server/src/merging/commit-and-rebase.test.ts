import type { CheckpointInfo, CommitReceipt, LayerChange, Page, RootReceipt } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'
import type { Answer, MemoryServer } from '../testing/memory-servers.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
})

describe('checkpoints', () => {
  it('checkpoints are read with ?at, and never written to', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    await ok(fixture.post('/a/checkpoints', { label: 'pass', toolCall: 'call_7' }))
    await fixture.write('/repo/a.txt', 'three\n', 'a')
    for (const query of ['layer=a&at=pass', 'at=pass', 'layer=a&at=call_7', 'layer=pass'])
      expect(await fixture.read('/repo/a.txt', query)).toBe('two\n')
    expect(await fixture.read('/repo/a.txt', 'layer=a&at=base')).toBe('one\n')
    expect(await fixture.read('/repo/a.txt', 'layer=a')).toBe('three\n')
    const written = fixture.server.call('PUT', '/w/files/repo/a.txt?layer=a&at=pass', 'x')
    expect((await refused(written)).code).toBe('read_only')
  })

  it('checkpoints are listed in order and forgotten', async () => {
    await fixture.create({ name: 'a' })
    for (const label of ['1', '2', '3']) {
      await fixture.write('/repo/a.txt', label, 'a')
      await ok(fixture.post('/a/checkpoints', { label }))
    }
    await fixture.server.call('DELETE', '/w/layers/a/checkpoints/2')
    const page = await ok(
      fixture.server.call<Page<CheckpointInfo>>('GET', '/w/layers/a/checkpoints?limit=1'),
    )
    expect([page.items[0]!.label, page.next]).toEqual(['1', '1'])
    const rest = await ok(
      fixture.server.call<Page<CheckpointInfo>>('GET', '/w/layers/a/checkpoints?cursor=1'),
    )
    expect(rest.items.map(({ label }) => label)).toEqual(['3'])
  })

  it('checkpoints without a write in between are listed as they were made', async () => {
    await fixture.create({ name: 'a' })
    const labels = ['5', '3', '1', '4', '2']
    for (const label of labels) await ok(fixture.post('/a/checkpoints', { label }))
    const page = await ok(
      fixture.server.call<Page<CheckpointInfo>>('GET', '/w/layers/a/checkpoints'),
    )
    expect(page.items.map(({ label }) => label)).toEqual(labels)
  })

  it('main has them as well', async () => {
    await ok(fixture.post('/main/checkpoints', { label: 'before' }))
    await fixture.write('/repo/a.txt', 'two\n')
    expect(await fixture.read('/repo/a.txt', 'at=before')).toBe('one\n')
    await ok(fixture.post('/main/rollback', { to: 'before' }))
    expect(await fixture.read('/repo/a.txt')).toBe('one\n')
    await ok(fixture.post('/main/undo'))
    expect(await fixture.read('/repo/a.txt')).toBe('two\n')
  })
})

describe('the base as a checkpoint', () => {
  it('the base as a checkpoint is committed without a change, and what came since stays in the layer', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    const receipt = await ok(fixture.post<CommitReceipt>('/a/commit', { checkpoint: 'base' }))
    expect(receipt.paths).toEqual([])
    expect(await fixture.status('a')).toMatchObject({ changes: [{ path: '/repo/a.txt' }] })
  })

  it('the base as a checkpoint is where a layer starts from, before everything that its parent did', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    expect(await fixture.create({ parent: 'a', at: 'base' })).toMatchObject({ origin: { seq: 0 } })
    await fixture.write('/repo/b.txt', 'main\n')
    const { seq } = await ok(fixture.post<RootReceipt>('/a/rebase'))
    expect(await fixture.create({ parent: 'a', at: 'base' })).toMatchObject({ origin: { seq } })
  })
})

describe('commit', () => {
  it('moves the parent in one step, with a receipt', async () => {
    const { id } = await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    await fixture.write('/repo/c.txt', 'sea\n', 'a')
    const receipt = await ok(fixture.post<CommitReceipt>('/a/commit', { message: 'better' }))
    expect(receipt).toMatchObject({
      layer: id,
      target: 'main',
      actor: 'key_1',
      message: 'better',
      dryRun: false,
      paths: [
        { kind: 'modified', path: '/repo/a.txt' },
        { kind: 'added', path: '/repo/c.txt' },
      ],
    })
    expect(receipt.before).not.toBe(receipt.after)
    expect(await fixture.read('/repo/c.txt')).toBe('sea\n')
    expect(await fixture.status('a')).toMatchObject({ state: 'committed', behind: false })
    expect(await ok(fixture.post('/a/commit'))).toEqual({ ...receipt })
  })

  it('the same key, the same receipt, whatever happened since', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    const first = await ok(fixture.post<CommitReceipt>('/a/commit', {}, 'k1'))
    await fixture.write('/repo/a.txt', 'three\n')
    expect(await ok(fixture.post('/a/commit', {}, 'k1'))).toEqual(first)
    expect((await refused(fixture.post('/a/abandon', {}, 'k1'))).code).toBe('idempotency_mismatch')
  })

  it('two servers race: it happens once, and both have the same receipt', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    const commit = (on: MemoryServer, key: string): Promise<Answer<CommitReceipt>> =>
      on.call<CommitReceipt>('POST', '/w/layers/a/commit', {}, { 'idempotency-key': key })
    const [one, two] = await Promise.all([
      commit(fixture.server, 'k1'),
      commit(fixture.other, 'k2'),
    ])
    expect([one.status, two.status], one.body + two.body).toEqual([200, 200])
    expect(one.json).toEqual(two.json)
    const { items } = (
      await fixture.server.call<Page<{ operations: { op: string }[] }>>('GET', '/w/log?limit=1000')
    ).json
    const commits = items
      .flatMap(({ operations }) => operations)
      .filter(({ op }) => op.startsWith('commit'))
    expect(commits).toHaveLength(1)
  })

  it('a dry run tells the same and changes nothing', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    const dry = await ok(fixture.post<CommitReceipt>('/a/commit', { dryRun: true }))
    expect(await fixture.read('/repo/a.txt')).toBe('one\n')
    const real = await ok(fixture.post<CommitReceipt>('/a/commit'))
    expect([dry.before, dry.after, dry.paths]).toEqual([real.before, real.after, real.paths])
    expect([dry.dryRun, dry.seq]).toEqual([true, undefined])
  })

  it('a commit of a checkpoint leaves later changes in the layer', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    await ok(fixture.post('/a/checkpoints', { label: 'pass' }))
    await fixture.write('/repo/b.txt', 'later\n', 'a')
    const receipt = await ok(fixture.post<CommitReceipt>('/a/commit', { checkpoint: 'pass' }))
    expect(receipt.paths.map(({ path }) => path)).toEqual(['/repo/a.txt'])
    expect(await fixture.read('/repo/b.txt')).toBe('bee\n')
    expect(await fixture.status('a')).toMatchObject({
      state: 'open',
      changes: [{ path: '/repo/b.txt' }],
    })
    await ok(fixture.post('/a/commit'))
    expect(await fixture.read('/repo/b.txt')).toBe('later\n')
  })

  it('different lines of one file are merged if the options say so', async () => {
    const lines = (first: string, last: string): string => `${first}\n${'x\n'.repeat(9)}${last}\n`
    await fixture.write('/repo/a.txt', lines('a', 'z'))
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', lines('A', 'z'), 'a')
    await fixture.write('/repo/a.txt', lines('a', 'Z'))
    expect((await refused(fixture.post('/a/commit'))).code).toBe('layer_conflict')
    await ok(fixture.post('/a/commit', { merge: true }))
    expect(await fixture.read('/repo/a.txt')).toBe(lines('A', 'Z'))
  })
})

describe('diff', () => {
  const diff = async (query: string): Promise<string[]> =>
    (
      await ok(fixture.server.call<Page<LayerChange>>('GET', `/w/layers/a/diff?${query}`))
    ).items.map(({ kind, path, added, removed }) =>
      [kind, path, added, removed].filter((part) => part !== undefined).join(' '),
    )

  it('between any two points', async () => {
    await fixture.create({ name: 'a' })
    await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'one\ntwo\n', 'a')
    await ok(fixture.post('/a/checkpoints', { label: 'pass' }))
    await fixture.write('/repo/c.txt', 'sea\n', 'a')
    await fixture.write('/repo/d.txt', 'x\n', 'b')
    expect(await diff('')).toEqual(['modified /repo/a.txt', 'added /repo/c.txt'])
    expect(await diff('stat')).toEqual(['modified /repo/a.txt 1 0', 'added /repo/c.txt 1 0'])
    expect(await diff('from=pass')).toEqual(['added /repo/c.txt'])
    expect(await diff('to=pass')).toEqual(['modified /repo/a.txt'])
    expect(await diff('from=pass&to=b')).toEqual(['modified /repo/a.txt', 'added /repo/d.txt'])
    expect(await diff('from=main&to=a@pass')).toEqual(['modified /repo/a.txt'])
    expect(await diff('path=/repo/c.txt')).toEqual(['added /repo/c.txt'])
  })

  it('as a patch that git reads', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'one\ntwo\n', 'a')
    await fixture.server.call('POST', '/w/files/repo/b.txt?move&layer=a', { to: '/repo/bee.txt' })
    const { body } = await fixture.server.call('GET', '/w/layers/a/diff?patch')
    expect(body).toBe(
      [
        'diff --git a/repo/a.txt b/repo/a.txt',
        '--- a/repo/a.txt',
        '+++ b/repo/a.txt',
        '@@ -1 +1,2 @@',
        ' one',
        '+two',
        'diff --git a/repo/b.txt b/repo/bee.txt',
        'rename from repo/b.txt',
        'rename to repo/bee.txt',
        '',
      ].join('\n'),
    )
  })
})

describe('the diff of a renamed directory', () => {
  beforeEach(async () => {
    await fixture.write('/repo/old/a.txt', 'a\n')
    await fixture.write('/repo/old/deep/b.txt', 'b\n')
    await fixture.create({ name: 'a' })
    const move = (from: string, to: string): Promise<unknown> =>
      fixture.server.call('POST', `/w/files${from}?move&layer=a`, { to })
    await move('/repo/old/deep', '/repo/old/deeper')
    await move('/repo/old', '/repo/new')
    await fixture.write('/repo/new/deeper/b.txt', 'b\nbb\n', 'a')
    await fixture.write('/repo/new/c.txt', 'c\n', 'a')
  })

  it('as a patch, tells of each file below it where it was', async () => {
    const { body } = await fixture.server.call('GET', '/w/layers/a/diff?patch')
    const expected = [
      'diff --git a/repo/old/a.txt b/repo/new/a.txt',
      'rename from repo/old/a.txt',
      'rename to repo/new/a.txt',
      'diff --git a/repo/new/c.txt b/repo/new/c.txt',
      'new file mode 100644',
      '--- /dev/null',
      '+++ b/repo/new/c.txt',
      '@@ -0,0 +1 @@',
      '+c',
      'diff --git a/repo/old/deep/b.txt b/repo/new/deeper/b.txt',
      'rename from repo/old/deep/b.txt',
      'rename to repo/new/deeper/b.txt',
      '--- a/repo/old/deep/b.txt',
      '+++ b/repo/new/deeper/b.txt',
      '@@ -1 +1,2 @@',
      ' b',
      '+bb',
      '',
    ]
    expect(body).toBe(expected.join('\n'))
    const below = await fixture.server.call('GET', '/w/layers/a/diff?patch&path=/repo/new/deeper')
    expect(below.body).toBe(expected.slice(9).join('\n'))
  })

  it('a merge by lines counts the changed bytes of a file, not the whole file', async () => {
    const { json } = await fixture.server.call<Page<LayerChange>>('GET', '/w/layers/a/diff?stat')
    expect(json.items.find(({ path }) => path === '/repo/new/deeper/b.txt')).toMatchObject({
      kind: 'modified',
      added: 1,
      removed: 0,
    })
  })
})

describe('another server', () => {
  it('reads what was written, rolled back and committed through this one', async () => {
    await fixture.create({ name: 'a' })
    const readThere = async (query: string): Promise<string> =>
      (await fixture.other.call('GET', `/w/files/repo/a.txt?${query}`)).body
    expect(await readThere('layer=a')).toBe('one\n')
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    expect(await readThere('layer=a')).toBe('two\n')
    await ok(fixture.post('/a/rollback'))
    expect(await readThere('layer=a')).toBe('one\n')
    await ok(fixture.post('/a/undo'))
    expect(await readThere('')).toBe('one\n')
    await ok(fixture.post('/a/commit'))
    expect(await readThere('')).toBe('two\n')
  })
})
