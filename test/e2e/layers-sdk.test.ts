// Layers through the SDK, against a real server.
import { isCairnError, type LayerConflict, type LayerEvent, type Workspace } from '@cairn/sdk'
import { beforeEach, expect, it } from 'vitest'
import { useServer } from './use-server.ts'

const server = useServer()
let workspace: Workspace

beforeEach(async () => {
  workspace = await server.enter()
  await workspace.files.write('/repo/a.txt', 'base\n')
})

const gather = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

const conflictsOf = async (work: Promise<unknown>): Promise<readonly LayerConflict[]> => {
  try {
    await work
  } catch (error) {
    if (isCairnError(error, 'layer_conflict')) return error.conflicts ?? []
    throw error
  }
  throw new Error('there was no conflict')
}

it('layers on layers to depth 32: a read finds its way, each commit goes to its parent', async () => {
  const { layers } = workspace
  await layers.create('/repo', { name: 'l1' })
  for (let depth = 2; depth <= 32; depth++)
    await layers.fork(`l${depth - 1}`, { name: `l${depth}` })
  expect((await layers.chain('l32')).map(({ name }) => name)).toEqual(
    Array.from({ length: 32 }, (_, index) => `l${index + 1}`),
  )
  const deepest = workspace.layer('l32').files
  expect(await deepest.readText('/repo/a.txt')).toBe('base\n')
  await deepest.write('/repo/deep.txt', 'from below')
  for (let depth = 32; depth > 1; depth--) {
    expect(await layers.commit(`l${depth}`)).toMatchObject({
      paths: [{ kind: 'added', path: '/repo/deep.txt' }],
    })
    expect(await workspace.files.exists('/repo/deep.txt')).toBe(false)
  }
  await layers.commit('l1')
  expect(await workspace.files.readText('/repo/deep.txt')).toBe('from below')
})

it('two layers of a layer: the second to be committed there meets the first, not main', async () => {
  const { layers } = workspace
  await layers.create('/repo', { name: 'plan' })
  for (const name of ['step-1', 'step-2']) {
    await layers.fork('plan', { name })
    await workspace.layer(name).files.write('/repo/a.txt', `${name}\n`)
  }
  await workspace.files.write('/repo/a.txt', 'main\n')
  await layers.commit('step-1')
  expect(await conflictsOf(layers.commit('step-2'))).toMatchObject([{ path: '/repo/a.txt' }])
  expect(await workspace.layer('plan').files.readText('/repo/a.txt')).toBe('step-1\n')
  expect(await workspace.files.readText('/repo/a.txt')).toBe('main\n')
  expect(await conflictsOf(layers.commit('plan'))).toMatchObject([{ path: '/repo/a.txt' }])
})

it('what is conflicted can be read, written, compared, named, rolled back, resolved and deleted', async () => {
  const { layers } = workspace
  for (const name of ['a', 'b']) {
    await layers.create('/repo', { name })
    await workspace.layer(name).files.write('/repo/a.txt', `${name}\n`)
  }
  await layers.commit('a')
  await conflictsOf(layers.commit('b'))
  const { files } = workspace.layer('b')
  expect(await files.readText('/repo/a.txt')).toBe('b\n')
  await layers.checkpoint('b', { label: 'conflicted' })
  await files.write('/repo/more.txt', 'more')
  expect((await layers.diff('b')).map(({ path }) => path)).toEqual([
    '/repo/a.txt',
    '/repo/more.txt',
  ])
  await layers.rollback('b', { to: 'conflicted' })
  expect(await files.exists('/repo/more.txt')).toBe(false)
  const bytes = Uint8Array.from({ length: 20_000 }, (_, index) => index % 256)
  expect(await layers.resolve('b', '/repo/a.txt', { content: bytes })).toMatchObject({
    resolved: [{ path: '/repo/a.txt' }],
    conflicts: [],
  })
  expect(await layers.commit('b')).toMatchObject({
    resolved: [{ path: '/repo/a.txt', take: 'content' }],
  })
  expect(await workspace.files.read('/repo/a.txt')).toEqual(bytes)
  expect(await layers.delete('b')).toHaveLength(1)
})

it('watch tells the changes of a layer, and who else changed the same paths', async () => {
  const { layers } = workspace
  const { id } = await layers.create('/repo', { name: 'mine' })
  const rival = await layers.create('/repo', { name: 'rival' })
  const stop = new AbortController()
  const events = layers.watch('mine', { signal: stop.signal, after: 0 })[Symbol.asyncIterator]()
  const until = async (type: LayerEvent['type']): Promise<LayerEvent> => {
    for (;;) {
      const { value, done } = await events.next()
      if (done === true) throw new Error('it ended')
      if (value.type === type) return value
    }
  }
  const changed = until('change')
  const { seq } = await workspace.layer('mine').files.write('/repo/a.txt', 'mine\n')
  expect(await changed).toMatchObject({
    seq,
    operations: [{ op: 'setattr' }, { op: 'write', path: '/repo/a.txt' }],
  })
  const warned = until('radar')
  await workspace.layer('rival').files.write('/repo/a.txt', 'rival\n')
  expect(await warned).toEqual({
    type: 'radar',
    layer: id,
    overlaps: [{ path: '/repo/a.txt', with: rival.id, name: 'rival', kind: 'modified' }],
    more: 0,
  })
  const ended = events.next()
  stop.abort()
  await expect(ended).rejects.toThrow()
})

it('watch of a layer that is not there ends at once', async () => {
  const events = workspace.layers.watch('nothing')[Symbol.asyncIterator]()
  await expect(events.next()).rejects.toMatchObject({ code: 'branch_missing' })
})

it('pick commits one attempt and abandons its rivals, once', async () => {
  const { layers } = workspace
  const made: string[] = []
  for (const name of ['a', 'b', 'c']) made.push((await layers.create('/repo', { name })).id)
  await workspace.layer('a').files.write('/repo/a.txt', 'a\n')
  const dry = await layers.pick('a', { dryRun: true })
  expect(dry).toMatchObject({ commit: { dryRun: true }, abandoned: made.slice(1) })
  expect(await workspace.files.readText('/repo/a.txt')).toBe('base\n')
  const pick = { message: 'the best', idempotencyKey: 'pick' }
  const receipt = await layers.pick('a', pick)
  expect(receipt).toMatchObject({
    commit: { layer: made[0], target: 'main', message: 'the best', dryRun: false },
    abandoned: made.slice(1),
  })
  expect(await layers.pick('a', pick)).toEqual(receipt)
  const states = (await gather(layers.list())).map(({ state }) => state)
  expect(states).toEqual(['committed', 'abandoned', 'abandoned'])
  expect(await workspace.files.readText('/repo/a.txt')).toBe('a\n')
})

it('the same key is the same layer, checkpoint, rollback and commit', async () => {
  const { layers } = workspace
  let count = 0
  const twice = async <T>(work: (key: string) => Promise<T>): Promise<T> => {
    const key = `k${count++}`
    const first = await work(key)
    expect(await work(key)).toEqual(first)
    return first
  }
  await twice((idempotencyKey) => layers.create('/repo', { name: 'try', idempotencyKey }))
  await workspace.layer('try').files.write('/repo/b.txt', 'b')
  await twice((idempotencyKey) => layers.checkpoint('try', { label: 'b', idempotencyKey }))
  await workspace.layer('try').files.write('/repo/c.txt', 'c')
  await twice((idempotencyKey) => layers.rollback('try', { to: 'b', idempotencyKey }))
  await twice((idempotencyKey) => layers.undo('try', { idempotencyKey }))
  await twice((idempotencyKey) => layers.rebase('try', { idempotencyKey }))
  await twice((idempotencyKey) => layers.commit('try', { idempotencyKey }))
  // The one that was asked for, and the one that the rollback left.
  const checkpoints = await gather(layers.checkpoints('try'))
  expect(checkpoints.map(({ automatic = false }) => automatic)).toEqual([false, true])
  await twice((idempotencyKey) => layers.delete('try', { idempotencyKey }))
})

it('twenty commits of one layer at once give one receipt', async () => {
  const { layers } = workspace
  await layers.create('/repo', { name: 'try' })
  await workspace.layer('try').files.write('/repo/b.txt', 'b')
  const receipts = await Promise.all(
    Array.from({ length: 20 }, () => layers.commit('try', { idempotencyKey: 'one' })),
  )
  expect(new Set(receipts.map(({ seq }) => seq)).size).toBe(1)
  const commits = (await gather(workspace.log())).filter(({ operations }) =>
    operations.some(({ op }) => op.startsWith('commit')),
  )
  expect(commits.length).toBe(1)
})

it('many layers that touch different files are all committed, from any number at once', async () => {
  const { layers } = workspace
  const names = Array.from({ length: 12 }, (_, index) => `n${index}`)
  await Promise.all(
    names.map(async (name) => {
      await layers.create('/repo', { name, tags: { batch: 'x' } })
      await workspace.layer(name).files.write(`/repo/${name}.txt`, name)
    }),
  )
  await Promise.all(names.map((name) => layers.commit(name)))
  for (const name of names) expect(await workspace.files.readText(`/repo/${name}.txt`)).toBe(name)
  const listed = await gather(layers.list({ tag: 'batch=x', state: 'committed', pageSize: 5 }))
  expect(new Set(listed.map(({ name }) => name))).toEqual(new Set(names))
})

it('a fork lives on its own, and so do layers in it', async () => {
  const { layers } = workspace
  const fork = `${workspace.name}-fork`
  await layers.create('/repo', { name: 'try' })
  await server.cairn.workspaces.fork(workspace.name, fork, { layer: 'try' })
  const other = server.cairn.workspace(fork)
  expect(await gather(other.layers.list())).toEqual([])
  await other.layers.create('/repo', { name: 'try' })
  await other.layer('try').files.write('/repo/a.txt', 'fork\n')
  await workspace.files.write('/repo/new.txt', 'origin')
  await other.files.write('/repo/new.txt', 'fork')
  await other.layers.commit('try')
  expect(await other.files.readText('/repo/a.txt')).toBe('fork\n')
  expect(await workspace.files.readText('/repo/a.txt')).toBe('base\n')
  expect(await workspace.files.readText('/repo/new.txt')).toBe('origin')
  await server.cairn.workspaces.delete(workspace.name)
  expect(await other.files.readText('/repo/a.txt')).toBe('fork\n')
  expect(await other.files.readText('/repo/new.txt')).toBe('fork')
})
