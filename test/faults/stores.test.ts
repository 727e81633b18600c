import { join } from 'node:path'
import { serve, type Serving } from '@cairn/server'
import {
  createBucket,
  type Fault,
  FaultProxy,
  makeTemporaryDirectory,
  MariadbServer,
  removeDirectory,
  type SharedCeph,
  startCeph,
  waitUntil,
  whyNoCeph,
  whyNoMariadb,
} from '@cairn/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Witness } from './witness.ts'

const listen = '127.0.0.1:0'
const large = 200_000

describe.skipIf(whyNoCeph)(`a server whose S3 is in trouble ${whyNoCeph ?? ''}`, () => {
  let ceph: SharedCeph
  let proxy: FaultProxy
  let directory: string
  let server: Serving
  let witness: Witness

  beforeAll(async () => {
    directory = await makeTemporaryDirectory()
    ceph = await startCeph()
    proxy = await FaultProxy.start(ceph.port)
    const { bucket, region, credentials } = await createBucket(ceph)
    const options = new URLSearchParams({
      endpoint: `http://127.0.0.1:${proxy.port}`,
      region,
      ...credentials,
      timeoutMs: '3000',
    })
    const objects = `s3://${bucket}?${options.toString()}`
    server = await serve({ data: join(directory, 'data'), listen, objects })
    witness = await Witness.of(server)
    expect((await witness.write('before', large)).status).toBe(201)
  }, 180_000)

  afterAll(async () => {
    await server?.close()
    await proxy?.stop()
    await ceph?.stop()
    await removeDirectory(directory)
  }, 60_000)

  const troubles: Readonly<Record<string, Fault>> = {
    'answers 500': { type: 'answer', text: answerOf('500 Internal Server Error') },
    'answers 503': { type: 'answer', text: answerOf('503 Slow Down') },
    'does not answer': { type: 'silence' },
    'cannot be reached': { type: 'refuse' },
  }
  it.each(Object.entries(troubles))('S3 %s: clear errors, then recovery', async (what, fault) => {
    proxy.fault = fault
    try {
      const refused = await witness.write(`${what}, refused`, large)
      expect(refused).toMatchObject({ status: 503, code: 'storage_unavailable' })
      expect(refused.message).toMatch(/cannot (put|write|store) .*s3:\/\//)
      const read = await witness.ask('GET', '/w/files/before?stat')
      expect(read.status).toBe(200)
      // Small files need no object.
      expect((await witness.write(`${what}, small`, 1000)).status).toBe(201)
      const missing = await witness.ask('GET', `/w/files/${what}, refused`)
      expect(missing.status).toBe(404)
    } finally {
      proxy.fault = { type: 'none' }
    }
    expect((await witness.write(`${what}, fixed`, large)).status).toBe(201)
    await witness.check()
  })
})

describe.skipIf(whyNoMariadb)(`a server whose MariaDB is killed ${whyNoMariadb ?? ''}`, () => {
  let mariadb: MariadbServer
  let directory: string
  let server: Serving

  beforeAll(async () => {
    directory = await makeTemporaryDirectory()
    mariadb = await MariadbServer.start()
    const meta = await mariadb.createDatabase()
    server = await serve({ data: join(directory, 'data'), listen, meta })
  }, 60_000)

  afterAll(async () => {
    await server?.close()
    await mariadb?.stop()
    await removeDirectory(directory)
  })

  it('clear errors, then it goes on by itself, and nothing acknowledged is missing', async () => {
    const witness = await Witness.of(server)
    const [failures, stopping] = [new Set<string>(), new AbortController()]
    const write = async (writer: string): Promise<void> => {
      for (let i = 0; !stopping.signal.aborted; i++) {
        const { code } = await witness.write(`${writer}-${i}`, i % 5 === 0 ? large : 100)
        if (code !== undefined) failures.add(code)
      }
    }
    const writing = Promise.all(['a', 'b', 'c'].map(write))
    const wrote = (count: number) => () => witness.acknowledged.size >= count
    try {
      await waitUntil('all have written', wrote(20))
      await mariadb.kill()
      await waitUntil('it is felt', () => failures.size > 0)
      expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
      const before = witness.acknowledged.size
      await mariadb.restart()
      await waitUntil('they go on', wrote(before + 20))
    } finally {
      stopping.abort()
      await writing
    }
    expect([...failures]).toEqual(['storage_unavailable'])
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await witness.check()
  })
})

function answerOf(status: string): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
}
