// What is done to a layer as a whole, while a session holds its lease and has acknowledged what the server has not seen.
import { encodeBody } from '@cairn/core'
import type { SessionClient } from '@cairn/mount'
import type {
  CheckpointInfo,
  CommitReceipt,
  LayerInfo,
  LayerStatus,
  Page,
  PickReceipt,
  ResolveReceipt,
  RootReceipt,
  RescueOutcome,
} from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  call,
  createFile,
  createWorkspace,
  Network,
  now,
  type RunningServer,
  SharedStores,
  until,
  writeBytes,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const { openSession, startServer } = useSessions()

describe('a live lease on a layer', () => {
  let first: RunningServer
  let second: RunningServer
  let holder: SessionClient

  beforeEach(async () => {
    const shared = new SharedStores()
    first = await startServer(shared, 10_000)
    second = await startServer(shared, 10_000)
    await createWorkspace(first)
    await post(first, '', { name: 'attempt', tags: { agent: 'a' } })
    // Sends what it has acknowledged only when it must.
    let unsent: (() => void)[] = []
    holder = openSession(first, {
      branch: 'agent=a',
      onRecall: () => {
        for (const send of unsent) send()
        unsent = []
      },
    })
    await until(() => holder.standing === 'lease')
    acknowledge = (name, ino) => {
      const { send, settled } = holder.reserve()
      unsent.push(() => send(encodeBody({ type: 'ops', ops: [createFile(name, ino)] }, now())))
      settled.catch(() => undefined)
      return settled
    }
  })

  let acknowledge: (name: string, ino: number) => Promise<unknown>

  const post = async <T>(server: RunningServer, path: string, body: object = {}): Promise<T> => {
    const { status, text } = await call(server, 'POST', `/w/layers${path}`, JSON.stringify(body))
    expect(status, text).toBeLessThan(300)
    return JSON.parse(text) as T
  }

  const names = async (query: string): Promise<string[]> => {
    const { text } = await call(first, 'GET', `/w/files/?list&${query}`)
    return (JSON.parse(text) as { items: { name: string }[] }).items.map(({ name }) => name)
  }

  it.each([
    ['the same server', () => first],
    ['another one', () => second],
  ])('a checkpoint through %s has what was acknowledged before it', async (_, server) => {
    void acknowledge('mine', 1001)
    const { id } = await post<CheckpointInfo>(server(), '/attempt/checkpoints', { label: 'c' })
    expect(await names(`layer=attempt&at=${id}`)).toEqual(['mine'])
  })

  it('a commit takes it along', async () => {
    void acknowledge('mine', 1001)
    const { paths } = await post<CommitReceipt>(second, '/attempt/commit')
    expect(paths.map(({ path }) => path)).toEqual(['/mine'])
  })

  it('abandoning keeps it: the layer has it when it is reopened', async () => {
    void acknowledge('mine', 1001)
    await post(second, '/attempt/abandon')
    expect(await names('layer=attempt')).toEqual(['mine'])
    await post(second, '/attempt/reopen')
    expect(await names('layer=attempt')).toEqual(['mine'])
  })

  it('picking another attempt keeps it in the one that is given up', async () => {
    void acknowledge('mine', 1001)
    await post(first, '', { name: 'better' })
    const { abandoned } = await post<PickReceipt>(second, '/better/pick')
    expect(abandoned).toHaveLength(1)
    expect(await names('layer=attempt')).toEqual(['mine'])
  })

  it('deleting waits for it: no acknowledged write is refused', async () => {
    const settled = acknowledge('mine', 1001)
    const { status } = await call(second, 'DELETE', '/w/layers/attempt')
    expect(status).toBe(200)
    await settled
  })

  it('a decision is about it', async () => {
    await call(first, 'PUT', '/w/files/mine', 'theirs')
    void acknowledge('mine', 1001)
    const decided = await post<ResolveReceipt>(second, '/attempt/resolve', {
      path: 'mine',
      take: 'target',
    })
    expect(decided.resolved).toMatchObject([{ kind: 'add/add', path: '/mine' }])
    await post(second, '/attempt/commit')
  })

  it('a rollback takes it back, the session hears of it, and undo brings it again', async () => {
    void acknowledge('mine', 1001)
    const { seq, paths } = await post<RootReceipt>(second, '/attempt/rollback')
    expect(paths).toMatchObject([{ kind: 'deleted', path: '/mine' }])
    await until(() => holder.seq >= seq)
    await until(() => holder.standing === 'lease')
    await post(second, '/attempt/undo')
    await until(async () => (await names('layer=attempt')).includes('mine'))
  })
})

describe('late writes that conflict', () => {
  it('late writes that conflict are a layer like any other: found, read, resolved and committed', async () => {
    const server = await startServer(new SharedStores(), 200)
    const network = new Network()
    const outcomes: RescueOutcome[] = []
    const onRescue = (outcome: RescueOutcome): void => void outcomes.push(outcome)
    const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
      const text = body && JSON.stringify(body)
      const answer = await call(server, method, path, text)
      expect(answer.status, answer.text).toBeLessThan(300)
      return JSON.parse(answer.text) as T
    }
    await createWorkspace(server)
    const a = openSession(server, { network, onRescue })
    await until(() => a.standing === 'lease')
    network.cut()
    const ops = [createFile('same', 1002), writeBytes(1002, 'mine')]
    a.submit(ops, now(), true).catch(() => undefined)
    const b = openSession(server)
    await until(() => b.standing === 'lease')
    await b.submit([createFile('same', 1003), writeBytes(1003, 'theirs')], now(), true)
    network.heal()
    await until(() => outcomes.length > 0)
    const branch = outcomes[0]!.layer
    const { items } = await ask<Page<LayerInfo>>('GET', '/w/layers?tag=rescue%3Dkey_1')
    expect(items).toMatchObject([{ state: 'conflicted', parent: 'main', path: '/' }])
    const { id } = items[0]!
    expect((await call(server, 'GET', `/w/files/same?layer=${id}`)).text).toBe('mine')
    const named = await ask<LayerStatus>('GET', `/w/layers/${encodeURIComponent(branch)}`)
    expect(named).toMatchObject({ id, conflicts: [{ kind: 'add/add', path: '/same' }] })
    await ask('POST', `/w/layers/${id}/resolve`, { path: 'same', take: 'layer' })
    await ask('POST', `/w/layers/${id}/commit`, {})
    expect((await call(server, 'GET', '/w/files/same')).text).toBe('mine')
  })
})
