// A batch of 4 MiB holds two million operations of two bytes. Other clients are answered while they are read.
import { rootIno } from '@cairn/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../e2e/start-server.ts'
import { until } from '../sessions/fixture.ts'
import { bodyOf, RawSession } from './raw-session.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  await server.cairn.workspaces.create('w')
}, 60_000)
afterAll(() => server.stop())

it('two million operations, which are refused', async () => {
  const session = await RawSession.open(server, server.apiKey)
  const epoch = await session.leaseEpoch()
  const body = bodyOf(Array.from({ length: 2_000_000 }, () => ({ type: 'reap', ino: rootIno })))
  const refused = (): boolean => session.heard.some(({ type }) => type === 'refused')
  const { files } = server.cairn.workspace('w')
  let answered = 0
  session.send({ type: 'submit', number: 1, epoch, body })
  while (!refused()) {
    await files.stat('/')
    if (!refused()) answered++
  }
  expect(answered).toBeGreaterThan(4)
  session.send({ type: 'bye' })
  await until(() => session.isClosed)
})
