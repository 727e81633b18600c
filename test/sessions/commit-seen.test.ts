// A reader during the commit of a layer sees all of it or nothing.
import { decodeSubtreeAnswer, type SessionClient } from '@cairn/mount'
import { rootIno } from '@cairn/protocol'
import { beforeEach, expect, it } from 'vitest'
import { call, type RunningServer, SharedStores, until } from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const files = 40
const { openSession, startServer } = useSessions()

let first: RunningServer
let second: RunningServer
let reader: SessionClient

const batches: number[] = []

beforeEach(async () => {
  const shared = new SharedStores()
  first = await startServer(shared, 10_000)
  second = await startServer(shared, 10_000)
  await ask('POST', '', { name: 'w' })
  await ask('POST', '/w/layers', { name: 'try' })
  for (let file = 0; file < files; file++)
    await ask('PUT', `/w/files/${file % 2 ? 'odd' : 'even'}/${file}?layer=try`, 'x')
  batches.length = 0
  reader = openSession(first, { mode: 'read', onBatch: () => batches.push(reader.seq) })
  await reader.welcomed
})

async function ask(method: string, path: string, body: object | string): Promise<string> {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  const { status, text } = await call(second, method, path, payload)
  expect(status, text).toBeLessThan(300)
  return text
}

/** How many files each look found, over and over until the commit is seen. */
async function lookUntilSeen(look: () => Promise<number>): Promise<ReadonlySet<number>> {
  const seen = new Set<number>()
  while (!seen.has(files)) seen.add(await look())
  return seen
}

it.each(['the same server', 'another one'])('through HTTP, on %s', async (where) => {
  const server = where === 'another one' ? first : second
  const look = async (): Promise<number> => {
    const { text } = await call(server, 'GET', '/w/files/?list&recursive&limit=1000')
    const { items } = JSON.parse(text) as { items: { kind: string }[] }
    return items.filter(({ kind }) => kind === 'file').length
  }
  const looking = lookUntilSeen(look)
  await ask('POST', '/w/layers/try/commit', {})
  expect([...(await looking)].filter((count) => count !== 0)).toEqual([files])
})

it('in a session: one batch, and trees of before or after it', async () => {
  const before = reader.seq
  const looking = lookUntilSeen(async () => {
    const answer = await reader.ask({ type: 'subtree', ino: rootIno, limit: 1000 })
    const { directories } = decodeSubtreeAnswer(answer)
    return directories.filter(({ ino }) => ino !== rootIno).flatMap(({ entries }) => entries).length
  })
  const { seq } = JSON.parse(await ask('POST', '/w/layers/try/commit', {})) as { seq: number }
  expect([...(await looking)].filter((count) => count !== 0)).toEqual([files])
  await until(() => reader.seq >= seq)
  expect(batches.filter((each) => each > before)).toEqual([seq])
})
