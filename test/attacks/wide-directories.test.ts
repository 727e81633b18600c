// A directory of 19,000 entries is answered as a whole. Other clients are answered meanwhile.
import type { Ino, Name } from '@cairn/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../e2e/start-server.ts'
import { until } from '../sessions/fixture.ts'
import { RawSession } from './raw-session.ts'

const questions = 30

let server: TestServer
let ino: Ino
beforeAll(async () => {
  server = await startServer()
  await server.cairn.workspaces.create('w')
  const { files } = server.cairn.workspace('w')
  const headers = { authorization: `Bearer ${server.apiKey}` }
  for (let part = 0; part < 19; part++) {
    const operations = Array.from({ length: 1000 }, (_, at) => ({
      op: 'write',
      path: `/wide/f${part * 1000 + at}`,
      text: 'x',
      parents: true,
    }))
    const body = JSON.stringify({ operations })
    const url = `${server.url}/v1/workspaces/w/batch`
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200)
  }
  ino = (await files.stat('/wide')).ino as Ino
}, 60_000)
afterAll(() => server.stop())

it.each([
  ['subtree', questions],
  ['directory', 4],
] as const)('%s, asked for 30 times at once', async (type, others) => {
  const session = await RawSession.open(server, server.apiKey, { mode: 'read' })
  const { files } = server.cairn.workspace('w')
  const answers = (): number => session.heard.filter((reply) => reply.type === 'answer').length
  for (let id = 1; id <= questions; id++) {
    if (type === 'subtree') session.send({ type, id, ino, limit: 20_000 })
    else session.send({ type, id, ino, after: '' as Name, limit: 20_000 })
  }
  let answered = 0
  for (; answers() < questions; answered++) await files.stat('/')
  expect(answered).toBeGreaterThan(others)
  session.send({ type: 'bye' })
  await until(() => session.isClosed)
})
