// A session on a layer may write at the layer's path and nowhere else.
import type { Op } from '@cairn/core'
import type { SessionClient } from '@cairn/mount'
import type { Ino, Name } from '@cairn/protocol'
import { beforeEach, expect, it } from 'vitest'
import {
  call,
  createDirectory,
  createFile,
  now,
  type RunningServer,
  SharedStores,
  until,
  writeBytes,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const { openSession, startServer } = useSessions()

let server: RunningServer
let session: SessionClient
let repo: number
let other: number

beforeEach(async () => {
  server = await startServer(new SharedStores(), 10_000)
  const ask = async (method: string, path: string, body?: string): Promise<{ ino: number }> => {
    const { status, text } = await call(server, method, path, body)
    expect(status, text).toBeLessThan(300)
    return JSON.parse(text) as { ino: number }
  }
  await ask('POST', '', '{"name":"w"}')
  await ask('PUT', '/w/files/repo/a', 'a')
  await ask('PUT', '/w/files/other/b', 'b')
  repo = (await ask('GET', '/w/files/repo?stat')).ino
  other = (await ask('GET', '/w/files/other?stat')).ino
  await ask('POST', '/w/layers', '{"name":"try","path":"/repo"}')
  session = openSession(server, { branch: 'try' })
  await until(() => session.standing === 'lease')
})

const submit = (...ops: Op[]): Promise<unknown> => session.submit(ops, now(), true)

it('what is made there, and in it, in one batch or in several', async () => {
  await submit(createDirectory('d', 5001, repo), createFile('f', 5002, 5001), writeBytes(5002, 'x'))
  const queued = [
    submit(createDirectory('e', 5003, 5001)),
    submit(createFile('g', 5004, 5003), writeBytes(5004, 'y')),
  ]
  await Promise.all(queued)
  expect((await call(server, 'GET', '/w/files/repo/d/e/g?layer=try')).text).toBe('y')
})

it('a file that has lost its name there can still be written to', async () => {
  await submit(createFile('f', 5001, repo))
  await submit({ type: 'unlink', parent: repo as Ino, name: 'f' as Name, time: now() })
  await submit(writeBytes(5001, 'nameless'))
})

it('nothing elsewhere, not even as a part of a batch', async () => {
  const moveOut: Op = {
    type: 'rename',
    parent: repo as Ino,
    name: 'a' as Name,
    newParent: other as Ino,
    newName: 'a' as Name,
    mode: 'replace',
    time: now(),
  }
  const refused: Op[][] = [
    [createFile('f', 5001)],
    [createFile('f', 5002, other)],
    [createFile('inside', 5003, repo), createFile('outside', 5004, other)],
    [moveOut],
    [{ type: 'unlink', parent: other as Ino, name: 'b' as Name, time: now() }],
    [{ type: 'setattr', ino: other as Ino, mode: 0o700, time: now() }],
  ]
  for (const ops of refused)
    await expect(session.submit(ops, now())).rejects.toMatchObject({ code: 'outside_layer' })
  expect((await call(server, 'GET', '/w/files/repo/inside?stat&layer=try')).status).toBe(404)
  await submit(createFile('still-works', 5005, repo))
})

it('what was acknowledged elsewhere is kept in a rescue layer, with everything in its batches', async () => {
  const before = submit(createFile('before', 5001, repo))
  const refused = submit(createDirectory('d', 5002, repo), createFile('outside', 5003, other))
  const behind = submit(createFile('behind', 5004, 5002))
  await before
  for (const late of [refused, behind])
    await expect(late).rejects.toMatchObject({ outcome: { result: 'kept' } })
  const { text } = await call(server, 'GET', '/w/layers')
  const { items } = JSON.parse(text) as { items: { id: string }[] }
  const { id } = items.find((layer) => layer.id.startsWith('rescue_'))!
  for (const path of ['repo/before', 'repo/d/behind', 'other/outside'])
    expect((await call(server, 'GET', `/w/files/${path}?stat&layer=${id}`)).status, path).toBe(200)
  expect((await call(server, 'GET', '/w/files/repo/d?stat&layer=try')).status).toBe(404)
  // The session goes on under another lease.
  await until(() => session.canAcknowledge)
  await submit(createFile('after', 5005, repo))
})
