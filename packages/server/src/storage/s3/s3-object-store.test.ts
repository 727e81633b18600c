import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runCases } from '@cairn/core/testing'
import { blobStoreCases, expectCode } from '@cairn/core/conformance'
import { CephServer, whyNoCeph } from '../../testing/servers/ceph.ts'
import { FaultProxy } from '../../testing/servers/fault-proxy.ts'
import { createBucket } from '../../testing/servers/s3-bucket.ts'
import { keysUnder, objectStoreCases } from '../../conformance/object-store.ts'
import { makeTemporaryDirectory, removeDirectory } from '../../testing/temporary-directory.ts'
import type { ObjectStore } from '../object-store.ts'
import { openStorage, type Storage } from '../open.ts'
import { withRetry } from '../retry.ts'
import type { S3Config } from './config.ts'
import { probeS3 } from './probe.ts'
import { openClient, openS3, S3ObjectStore } from './s3-object-store.ts'

const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 7) ^ (i >> 8))

describe.skipIf(whyNoCeph)(`S3 (Ceph) ${whyNoCeph ?? ''}`, () => {
  let server: CephServer
  let config: S3Config
  beforeAll(async () => {
    server = await CephServer.start()
    config = await createBucket(server)
  }, 150_000)
  afterAll(() => server?.stop())

  describe.each([
    ['plain', '', (store: ObjectStore) => store],
    ['with a prefix and retries', 'some/where/', withRetry],
  ])('object store, %s', (_, prefix, decorate) => {
    let store: ObjectStore
    beforeAll(async () => {
      store = decorate(await openS3({ ...config, prefix }))
    })
    afterAll(() => store?.close())
    runCases(objectStoreCases, async () => ({ store }))
  })

  it('a listing of more than a page is whole', async () => {
    const store = new S3ObjectStore(config)
    const keys = Array.from({ length: 1010 }, (_, i) => `many/${String(i).padStart(5, '0')}`)
    const queue = keys.values()
    const carry = async (): Promise<void> => {
      for (const key of queue) await store.put(key, Uint8Array.of(1))
    }
    await Promise.all(Array.from({ length: 16 }, carry))
    expect(await keysUnder(store, 'many/')).toEqual(keys)
    await store.close()
  })

  describe('blobs of a server, through its URL', () => {
    let storage: Storage
    let directory: string
    beforeAll(async () => {
      directory = await makeTemporaryDirectory()
      storage = await openStorage({ data: directory, objects: urlOf(config) })
    })
    afterAll(async () => {
      await storage?.close()
      await removeDirectory(directory)
    })
    runCases(blobStoreCases, async () => ({ store: storage.blobs('pool') }))
  })

  describe('the probe', () => {
    it('leaves nothing behind', async () => {
      const fresh = await createBucket(server)
      const store = await openS3(fresh)
      expect(await keysUnder(store, '')).toEqual([])
      await store.close()
    })

    const refusals: Readonly<Record<string, [Partial<S3Config>, RegExp]>> = {
      'an unknown key': [
        { credentials: { accessKeyId: 'NOBODY', secretAccessKey: 'SKTEST' } },
        /does not know the access key/,
      ],
      'a wrong secret': [
        { credentials: { accessKeyId: 'AKTEST', secretAccessKey: 'wrong' } },
        /secret does not fit/,
      ],
      'an absent bucket': [{ bucket: 'not-there' }, /bucket does not exist\. Create it/],
    }
    for (const [what, [change, words]] of Object.entries(refusals))
      it(`refuses ${what} and says what to do`, async () => {
        const opening = openS3({ ...config, ...change })
        await expectCode(opening, 'storage_misconfigured')
        await expect(opening).rejects.toThrow(words)
      })

    it('refuses a clock that is an hour ahead and says what to do', async () => {
      const client = openClient(config)
      client.config.systemClockOffset = 3_600_000
      const probing = probeS3(client, config)
      await expectCode(probing, 'storage_misconfigured')
      await expect(probing).rejects.toThrow(/clock/)
      client.destroy()
    })

    it('says that nobody listens', async () => {
      const opening = openS3({ ...config, endpoint: 'http://127.0.0.1:1' })
      await expectCode(opening, 'storage_unavailable')
    })
  })

  describe('through a bad line', () => {
    let proxy: FaultProxy
    const opened: S3ObjectStore[] = []
    beforeAll(async () => {
      proxy = await FaultProxy.start(server.port)
    })
    afterEach(async () => {
      proxy.fault = { type: 'none' }
      for (const store of opened.splice(0)) await store.close()
    })
    afterAll(() => proxy?.stop())

    /** A new one has no connection yet, so it meets the fault and not a connection that was cut. */
    const open = (): S3ObjectStore => {
      const endpoint = `http://127.0.0.1:${proxy.port}`
      const store = new S3ObjectStore({ ...config, endpoint, timeoutMs: 500 })
      opened.push(store)
      return store
    }

    const faults = {
      'answers 500': { type: 'answer', text: answer(500) },
      'asks to slow down': { type: 'answer', text: answer(503) },
      'answers nonsense': { type: 'answer', text: 'SSH-2.0-OpenSSH\r\n' },
      'is silent': { type: 'silence' },
      'hangs up': { type: 'refuse' },
      'breaks off in the answer': { type: 'cut', afterBytes: 60 },
    } as const
    for (const [what, fault] of Object.entries(faults))
      it(`a store that ${what} is storage_unavailable, and works again afterwards`, async () => {
        const key = `faults/${crypto.randomUUID()}`
        const store = open()
        await store.put(key, bytes)
        proxy.fault = fault
        await expectCode(open().get(key), 'storage_unavailable')
        await expectCode(open().put(`${key}-other`, bytes), 'storage_unavailable')
        await expectCode(keysUnder(open(), 'faults/'), 'storage_unavailable')
        await expectCode(open().delete(key), 'storage_unavailable')
        proxy.fault = { type: 'none' }
        // A delete whose answer was lost has happened; putting again is right either way.
        const patient = withRetry(store)
        await patient.put(key, bytes)
        expect(Buffer.compare(await patient.get(key), bytes)).toBe(0)
      })

    for (const type of ['cut', 'stall'] as const)
      it(`a body that ends early (${type}) is storage_unavailable, never given`, async () => {
        const key = `faults/${crypto.randomUUID()}`
        await open().put(key, bytes)
        proxy.fault = { type, afterBytes: 50_000 }
        await expectCode(open().get(key), 'storage_unavailable')
        expect(proxy.passedBytes).toBeGreaterThan(40_000)
      })

    it('retries carry a put over a moment of failure', async () => {
      const key = `faults/${crypto.randomUUID()}`
      proxy.fault = { type: 'answer', text: answer(500) }
      const retrying = withRetry(open(), {
        attempts: 3,
        firstDelayMs: 1,
        delayMsMax: 1,
        sleep: async () => {
          proxy.fault = { type: 'none' }
        },
      })
      await retrying.put(key, bytes)
      expect(Buffer.compare(await retrying.get(key), bytes)).toBe(0)
    })
  })
})

function answer(status: number): string {
  return `HTTP/1.1 ${status} Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
}

function urlOf({ bucket, endpoint, credentials }: S3Config): string {
  const options = new URLSearchParams({ endpoint: endpoint!, prefix: 'cairn', ...credentials })
  return `s3://${bucket}?${options.toString()}`
}
