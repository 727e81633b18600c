import { encodeBody } from '@cairn/core'
import type { SessionClient } from '@cairn/mount'
import { type Name, rootIno } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  createDirectory,
  createFile,
  createWorkspace,
  Network,
  now,
  type RunningServer,
  SharedStores,
  until,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const { openSession, startServer } = useSessions()

describe('welcome', () => {
  let server: RunningServer
  const open = (more?: Parameters<typeof openSession>[1]): SessionClient =>
    openSession(server, more)
  const refusal = (client: SessionClient): Promise<string> =>
    client.welcomed.then(
      () => 'welcome',
      (error: Error & { code: string }) => error.code,
    )

  beforeEach(async () => {
    server = await startServer(new SharedStores(), 1500)
    await createWorkspace(server)
  })

  it('tells the inode at the path, and keeps to it when the directory is renamed', async () => {
    const writer = open()
    await writer.submit([createDirectory('repo', 1001)], now())
    const network = new Network()
    const mount = open({ path: '/repo', network })
    expect(await mount.welcomed).toMatchObject({ root: 1001 })
    const [parent, name, newName] = [rootIno, 'repo' as Name, 'moved' as Name]
    const rename = {
      type: 'rename',
      time: now(),
      parent,
      name,
      newParent: parent,
      newName,
    } as const
    await writer.submit([{ ...rename, mode: 'replace' }], now())
    network.cut()
    network.heal()
    await until(() => mount.standing === 'shared')
    expect(mount.root).toBe(1001)
  })

  it('a welcome without a path names the root directory', async () => {
    expect(await open().welcomed).toMatchObject({ root: 1 })
  })

  it.each([
    ['a path that is not there', { path: '/none' }, 'ENOENT'],
    ['a path to a file', { path: '/file' }, 'ENOTDIR'],
    ['a branch that is not there', { branch: 'none' }, 'branch_missing'],
    ['a workspace that is not there', { workspace: 'none' }, 'workspace_missing'],
    ['a key that is not known', { key: 'another-secret' }, 'unauthenticated'],
  ])('%s: the session is refused with the reason', async (_, options, code) => {
    await open().submit([createFile('file', 1001)], now())
    const refused = open(options)
    const asked = refused.ask({ type: 'inodes', count: 1 })
    expect(await refusal(refused)).toBe(code)
    await expect(asked).rejects.toMatchObject({ code })
  })

  it('a path that is refused leaves no writer behind: the next one has the lease', async () => {
    expect(await refusal(open({ path: '/none' }))).toBe('ENOENT')
    const next = open()
    await until(() => next.standing === 'lease')
  })

  it('a process that comes back goes on with its numbers: what arrived is not written twice, the rest arrives', async () => {
    const before = open()
    await until(() => before.standing === 'lease')
    const first = [createFile('first', 1001)]
    const time = now()
    const { seq } = await before.submit(first, time, true)
    before.abandon()
    const body = (ops: Parameters<SessionClient['submit']>[0]): Uint8Array =>
      encodeBody({ type: 'ops', ops }, time)
    const second = body([createFile('second', 1002)])
    const after = open({
      resume: {
        session: before.id,
        seq,
        lastNumber: 2,
        pending: [
          { number: 1, body: body(first), epoch: 2 },
          { number: 2, body: second, epoch: 2 },
        ],
      },
    })
    const settled = await Promise.all([after.settled(1), after.settled(2)])
    expect(settled).toMatchObject([{ seq }, { seq: seq + 1 }])
    await until(() => after.standing === 'lease')
    expect(await after.submit([createFile('third', 1003)], now(), true)).toMatchObject({
      seq: seq + 2,
    })
  })
})
