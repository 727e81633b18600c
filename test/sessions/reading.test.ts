import { makeCheckpoint, rollback } from '@cairn/core'
import {
  decodeChangesAnswer,
  decodeContentAnswer,
  decodeDirectoryAnswer,
  decodeInodeAnswer,
  decodeSubtreeAnswer,
  type SessionClient,
} from '@cairn/mount'
import type { ActorId, CheckpointId, Ino, Name, SessionId } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  createDirectory,
  createFile,
  createWorkspace,
  now,
  type RunningServer,
  SharedStores,
  until,
  writeBytes,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const root = 1 as Ino
const { openSession, startServer } = useSessions()

describe('what a session is told', () => {
  let server: RunningServer
  let session: SessionClient
  const open = (more?: Parameters<typeof openSession>[1]): SessionClient =>
    openSession(server, more)

  beforeEach(async () => {
    server = await startServer(new SharedStores(), 1500)
    await createWorkspace(server)
    session = open()
    await until(() => session.standing === 'lease')
  })

  it('an inode with two names comes with both, and with the sequence number of the read', async () => {
    const link = {
      type: 'link',
      time: now(),
      ino: 1001 as Ino,
      parent: root,
      name: 'b' as Name,
    } as const
    const { seq } = await session.submit([createFile('a', 1001), link], now())
    const answer = decodeInodeAnswer(await session.ask({ type: 'inode', ino: 1001 as Ino }))
    expect(answer.seq).toBe(seq)
    expect(answer.inode.nlink).toBe(2)
    expect(answer.links.map(({ name }) => name).toSorted()).toEqual(['a', 'b'])
    const page = decodeDirectoryAnswer(
      await session.ask({ type: 'directory', ino: root, after: '', limit: 10 }),
    )
    expect(page.entries.map(({ name, links }) => [name, links.length])).toEqual([
      ['a', 2],
      ['b', 2],
    ])
  })

  it.each([
    [2, false],
    [3, true],
    [4, true],
  ])('three entries, asked for %i: done is %s', async (limit, done) => {
    const ops = ['a', 'b', 'c'].map((name, i) => createFile(name, 1001 + i))
    await session.submit(ops, now())
    const page = decodeDirectoryAnswer(
      await session.ask({ type: 'directory', ino: root, after: '', limit }),
    )
    expect(page.entries.length).toBe(Math.min(limit, 3))
    expect(page.done).toBe(done)
  })

  it('bytes of a file come with the place in the log', async () => {
    const { seq } = await session.submit([createFile('a', 1001), writeBytes(1001, 'hello')], now())
    const ask = { type: 'content', ino: 1001 as Ino, offset: 1, length: 100 } as const
    const { seq: at, bytes } = decodeContentAnswer(await session.ask(ask))
    expect([at, new TextDecoder().decode(bytes)]).toEqual([seq, 'ello'])
  })

  it('a subtree comes in whole directories, nearest first, and stops before one that is too large', async () => {
    await session.submit(
      [
        createDirectory('d', 1001),
        createDirectory('e', 1002),
        createFile('in-d', 1003, 1001),
        createDirectory('in-e', 1004, 1002),
        ...Array.from({ length: 5 }, (_, i) => createFile(`deep-${i}`, 1010 + i, 1004)),
      ],
      now(),
    )
    const read = async (limit: number): Promise<readonly string[]> => {
      const answer = await session.ask({ type: 'subtree', ino: root, limit })
      return decodeSubtreeAnswer(answer).directories.map(
        ({ ino, entries }) => `${ino}: ${entries.map(({ name }) => name).join(' ')}`,
      )
    }
    const near = ['1: d e', '1001: in-d', '1002: in-e']
    expect(await read(1)).toEqual([])
    expect(await read(4)).toEqual(near)
    expect(await read(8)).toEqual(near)
    expect(await read(9)).toEqual([...near, '1004: deep-0 deep-1 deep-2 deep-3 deep-4'])
  })

  it('a subtree of a file is refused', async () => {
    await session.submit([createFile('a', 1001)], now())
    const asked = session.ask({ type: 'subtree', ino: 1001 as Ino, limit: 10 })
    await expect(asked).rejects.toThrow(/ENOTDIR/)
  })

  it('what a rollback changed: inodes and names, and nothing that stayed', async () => {
    const batches: number[] = []
    const follower = open({ mode: 'read', onBatch: () => batches.push(follower.seq) })
    await session.submit([createFile('stays', 1001), createFile('edited', 1002)], now())
    const workspace = await server.workspaces.open('owner_1', 'w')
    const branch = await workspace.branch('main')
    const names = { id: 'c' as CheckpointId, label: '', time: now() }
    const checkpoint = await makeCheckpoint(workspace.stores, branch, names)
    await session.submit([writeBytes(1002, 'x'), createFile('added', 1003)], now())
    const actor = 'key_1' as ActorId
    const author = { session: 'back' as SessionId, number: 1, actor, time: now() }
    const { seq } = await workspace
      .lease(branch)
      .withTurn((epoch) => rollback(workspace.stores, branch, author, checkpoint, epoch))
    await until(() => batches.includes(seq))
    const { inodes, names: changed } = decodeChangesAnswer(
      await follower.ask({ type: 'changes', seq }),
    )
    expect(inodes.toSorted((a, b) => a - b)).toEqual([root, 1002, 1003])
    expect(changed).toEqual([{ parent: root, name: 'added' }])
    await expect(follower.ask({ type: 'changes', seq: 1 })).rejects.toThrow(/EINVAL/)
  })

  it('own batches come as their numbers, others with their bytes, in the order of the log', async () => {
    const heard: string[] = []
    const other = open({
      onOwn: (number, seq) => heard.push(`own ${number} at ${seq}`),
      onBatch: () => heard.push(`batch ${other.seq}`),
    })
    await until(() => session.standing === 'shared' && other.standing === 'shared')
    const before = other.seq
    heard.length = 0
    await other.submit([createFile('mine', 1001)], now())
    await session.submit([createFile('theirs', 1002)], now())
    await other.submit([createFile('mine-too', 1003)], now())
    await until(() => heard.length === 3)
    expect(heard).toEqual([
      `own 1 at ${before + 1}`,
      `batch ${before + 2}`,
      `own 2 at ${before + 3}`,
    ])
  })

  it('a session that starts at the head hears of nothing older', async () => {
    await session.submit([createFile('old', 1001)], now())
    const heard: number[] = []
    const late = open({ mode: 'read', startsAtHead: true, onBatch: () => heard.push(late.seq) })
    const { seq } = await late.welcomed
    expect(late.seq).toBe(seq)
    const { seq: next } = await session.submit([createFile('new', 1002)], now())
    await until(() => heard.length > 0)
    expect(heard).toEqual([next])
  })
})
