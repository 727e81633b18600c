import { beforeEach, describe, expect, it } from 'vitest'
import type { SessionClient } from '@cairn/mount'
import { type Ino, isFsError, type Name, rootIno } from '@cairn/protocol'
import {
  call,
  createFile,
  createWorkspace,
  now,
  type RunningServer,
  SharedStores,
  until,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const leaseMs = 300
const { openSession, startServer } = useSessions()
const [held, free] = [1001 as Ino, 1002 as Ino]

describe('files without a name', () => {
  let servers: readonly RunningServer[]
  let sessions: SessionClient[]

  beforeEach(async () => {
    const shared = new SharedStores()
    servers = [await startServer(shared, leaseMs), await startServer(shared, leaseMs)]
    sessions = []
    await createWorkspace(servers[0]!)
    const maker = session()
    await maker.submit([createFile('held', held), createFile('free', free)], now())
    await maker.close()
  })

  function session(options: Parameters<typeof openSession>[1] = {}): SessionClient {
    const opened = openSession(servers[0]!, options)
    sessions.push(opened)
    return opened
  }

  /** Through the other server. */
  async function removeBoth(): Promise<void> {
    for (const name of ['held', 'free'])
      expect((await call(servers.at(-1)!, 'DELETE', `/w/files/${name}`)).status).toBe(200)
  }

  async function isThere(ino: Ino): Promise<boolean> {
    try {
      await sessions.at(-1)!.ask({ type: 'inode', ino })
      return true
    } catch (error) {
      if (isFsError(error, 'ESTALE')) return false
      throw error
    }
  }

  it.each(['write', 'read'] as const)(
    'stay while a session that may %s has them open, and go after it has closed them',
    async (mode) => {
      const holds = [held]
      await session({ mode, holds: () => holds }).welcomed
      await removeBoth()
      await until(async () => !(await isThere(free)))
      expect(await isThere(held)).toBe(true)
      holds.pop()
      await until(async () => !(await isThere(held)))
    },
  )

  it('go when the session that had them open has said goodbye', async () => {
    const holder = session({ holds: () => [held] })
    await session({ mode: 'read' }).welcomed
    await holder.welcomed
    await removeBoth()
    await until(async () => !(await isThere(free)))
    expect(await isThere(held)).toBe(true)
    await holder.close()
    await until(async () => !(await isThere(held)))
  })

  it('go when the session that had them open has died, and another one writes', async () => {
    const holder = session({ holds: () => [held] })
    await holder.welcomed
    const unlink = { type: 'unlink', time: now(), parent: rootIno, name: 'held' as Name } as const
    await holder.submit([unlink], now())
    holder.abandon()
    await session().welcomed
    await until(async () => !(await isThere(held)))
  })

  it('files without a name that sessions left are found by a server that opens the branch later', async () => {
    const last = session()
    await last.welcomed
    const unlink = { type: 'unlink', time: now(), parent: rootIno, name: 'free' as Name } as const
    await last.submit([unlink], now())
    await last.close()
    await servers[0]!.close()
    servers = servers.slice(1)
    await session({ mode: 'read' }).welcomed
    await until(async () => !(await isThere(free)))
    expect(await isThere(held)).toBe(true)
  })

  it('files without a name are told to a session that asks which there are', async () => {
    const asker = session({ holds: () => [held] })
    await asker.welcomed
    await removeBoth()
    expect([...(await asker.ask({ type: 'nameless' }))]).toEqual([2, ...varints(held, free)])
  })
})

function varints(...numbers: readonly number[]): readonly number[] {
  return numbers.flatMap((number) => [(number & 127) | 128, number >> 7])
}
