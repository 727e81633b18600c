import { decodeSentBatch } from '@cairn/core'
import type { SessionClient } from '@cairn/mount'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  call,
  createDirectory,
  createFile,
  createWorkspace,
  now,
  openSession,
  type RunningServer,
  SharedStores,
  startServer,
  until,
  writeBytes,
} from './fixture.ts'

/** Changes of others, while the session looks at nothing. */
const changesMax = 16

let server: RunningServer
let holder: SessionClient
let other: SessionClient
let forgotten: Ino[]
let heard: Uint8Array[]

beforeEach(async () => {
  server = await startServer(new SharedStores(false), 10_000)
  await createWorkspace(server)
  forgotten = []
  heard = []
  const open = (
    onForget: (inos: readonly Ino[]) => void,
    onBatch: (bytes: Uint8Array) => void = () => undefined,
  ): SessionClient =>
    openSession(server, {
      onBatch,
      mode: 'share',
      isSilent: true,
      onYield: async () => undefined,
      onForget: async (inos) => onForget(inos),
    })
  holder = open((inos) => void forgotten.push(...inos))
  await until(() => holder.canAcknowledge)
  other = open(
    () => undefined,
    (bytes) => heard.push(bytes.slice()),
  )
  await until(() => other.standing === 'shared')
})
afterEach(async () => {
  for (const client of [holder, other]) client.abandon()
  await server.close()
})

const put = async (name: string): Promise<void> => {
  expect((await call(server, 'PUT', `/w/files/${name}`, 'x')).status).toBe(201)
}

/** The holder shows each of them before it is answered. */
async function changeOften(): Promise<void> {
  for (let n = 0; n < changesMax; n++) {
    const { seq } = holder
    const answered = put(`f${n}`)
    await until(() => holder.seq > seq)
    holder.seen(holder.seq)
    await answered
  }
}

async function expectToWaitForHolder(seq: number): Promise<void> {
  const events: string[] = []
  const passed = other.barrier(seq).then(() => events.push('passed'))
  holder.seen(seq - 1)
  // Answered behind what was said before it, over the same connection.
  await holder.ask({ type: 'inodes', count: 1 })
  events.push('seen')
  holder.seen(seq)
  await passed
  expect(events).toEqual(['seen', 'passed'])
}

it('a session that does not use a directory forgets it, and changes there do not wait for it any more', async () => {
  await changeOften()
  await until(() => forgotten.includes(rootIno))
  // It says nothing now: a change that waited for it would wait for five seconds.
  const begin = performance.now()
  await put('last')
  expect(performance.now() - begin).toBeLessThan(2500)
  const { isShown } = await other.submit([createFile('own', 1001)], now())
  expect(isShown).toBe(true)
})

/** How the content of each write was sent that the other session heard of. */
function writtenTypes(): readonly string[] {
  return heard.flatMap((bytes) => {
    const { body } = decodeSentBatch(bytes)
    return body.type === 'ops' ? body.ops.flatMap((op) => ('data' in op ? op.data.type : [])) : []
  })
}

it('a session is sent what was written to files of a directory that it looked into, and else their operations alone', async () => {
  const [directory, file] = [1001, 1002]
  const text = 'x'.repeat(20_000)
  // It has forgotten what it had before it came.
  await other.ask({ type: 'inodes', count: 1 })
  await holder.submit(
    [createDirectory('d', directory), createFile('f', file, directory), writeBytes(file, text)],
    now(),
    true,
  )
  await until(() => writtenTypes().length > 0)
  await other.ask({ type: 'look', inos: [directory as Ino] })
  await holder.submit([writeBytes(file, text)], now(), true)
  await until(() => writtenTypes().length > 1)
  expect(writtenTypes()).toEqual(['blob', 'bytes'])
})

it('a change waits for a session that has looked into the directory since', async () => {
  await changeOften()
  await until(() => forgotten.includes(rootIno))
  await holder.ask({ type: 'look', inos: [rootIno] })
  const { seq, isShown } = await other.submit([createFile('own', 1001)], now())
  expect(isShown).toBe(false)
  await expectToWaitForHolder(seq)
})

it('a change of a file without a name waits for the other sessions: any of them may have it open', async () => {
  const file = 1001
  await holder.submit([createFile('f', file), writeBytes(file, '......')], now(), true)
  await holder.submit([{ type: 'unlink', parent: rootIno, name: 'f' as Name, time: now() }], now())
  const { seq, isShown } = await other.submit([writeBytes(file, 'A')], now())
  expect(isShown).toBe(false)
  await expectToWaitForHolder(seq)
})
