import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runCases } from '@cairn/core/testing'
import { blobStoreCases, expectCode } from '@cairn/core/conformance'
import { whyNoCeph } from '../../testing/servers/ceph.ts'
import { FaultProxy } from '../../testing/servers/fault-proxy.ts'
import {
  createBucket,
  type S3Server,
  s3UrlOf,
  type SharedCeph,
  startCeph,
  startS3,
  whyNoS3,
} from '../../testing/servers/s3.ts'
import { keysUnder, objectStoreCases } from '../../conformance/object-store.ts'
import { makeTemporaryDirectory, removeDirectory } from '../../conformance/temporary-directory.ts'
import type { ObjectStore } from '../object-store.ts'
import { openStorage, type Storage } from '../open.ts'
import { withRetry } from '../retry.ts'
import type { S3Config } from './config.ts'
import { probeS3 } from './probe.ts'
import { openClient, openS3, S3ObjectStore } from './s3-object-store.ts'

const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 7) ^ (i >> 8))

describe.skipIf(whyNoS3)(`S3 ${whyNoS3 ?? ''}`, () => {
  let server: S3Server
  let config: S3Config
  beforeAll(async () => {
    server = await startS3()
    config = await server.createBucket()
  }, 150_000)
  afterAll(() => server?.stop())

  describe.each([
    ['plain', '', (store: ObjectStore) => store],
    ['with a prefix and retries', 'some/where/', withRetry],
  ])('object store, %s', (_, prefix, decorate) => {
    let store: ObjectStore
    beforeAll(async () => {
      store = decorate(await openS3({ ...config, prefix: config.prefix + prefix }))
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
      storage = await openStorage({
        data: directory,
        objects: s3UrlOf({ ...config, prefix: `${config.prefix}cairn` }),
      })
    })
    afterAll(async () => {
      await storage?.close()
      await removeDirectory(directory)
    })
    runCases(blobStoreCases, async () => ({ store: storage.blobs('pool') }))
  })

  describe('the probe', () => {
    it('leaves nothing behind', async () => {
      const fresh = await server.createBucket()
      const store = await openS3(fresh)
      expect(await keysUnder(store, '')).toEqual([])
      await store.close()
    })

    const refusals: Readonly<Record<string, [(right: S3Config) => Partial<S3Config>, RegExp]>> = {
      'an unknown key': [
        () => ({ credentials: { accessKeyId: 'UNKNOWN', secretAccessKey: 'secret' } }),
        /does not know the access key/,
      ],
      'a wrong secret': [
        ({ credentials }) => ({ credentials: { ...credentials!, secretAccessKey: 'wrong' } }),
        /secret does not fit/,
      ],
      'an absent bucket': [
        () => ({ bucket: `absent-${crypto.randomUUID()}` }),
        /bucket does not exist\. Create it/,
      ],
    }
    for (const [what, [change, words]] of Object.entries(refusals))
      it(`refuses ${what} and says what to do`, async () => {
        const opening = openS3({ ...config, ...change(config) })
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

    it('says that nothing listens', async () => {
      const opening = openS3({ ...config, endpoint: 'http://127.0.0.1:1' })
      await expectCode(opening, 'storage_unavailable')
    })
  })
})

describe.skipIf(whyNoCeph)(`S3 (Ceph) through a bad line ${whyNoCeph ?? ''}`, () => {
  let server: SharedCeph
  let config: S3Config
  let proxy: FaultProxy
  const opened: S3ObjectStore[] = []
  beforeAll(async () => {
    server = await startCeph()
    config = await createBucket(server)
    proxy = await FaultProxy.start(server.port)
  }, 150_000)
  afterEach(async () => {
    proxy.fault = { type: 'none' }
    for (const store of opened.splice(0)) await store.close()
  })
  afterAll(async () => {
    await proxy?.stop()
    await server?.stop()
  })

  /** A new one has no connection yet, so it meets the fault and not a connection that was cut. */
  const open = (timeoutMs: number): S3ObjectStore => {
    const endpoint = `http://127.0.0.1:${proxy.port}`
    const store = new S3ObjectStore({ ...config, endpoint, timeoutMs })
    opened.push(store)
    return store
  }
  const openPatient = (): S3ObjectStore => open(20_000)
  const openHasty = (): S3ObjectStore => open(500)

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
      const store = openPatient()
      await store.put(key, bytes)
      proxy.fault = fault
      await expectCode(openHasty().get(key), 'storage_unavailable')
      await expectCode(openHasty().put(`${key}-other`, bytes), 'storage_unavailable')
      await expectCode(keysUnder(openHasty(), 'faults/'), 'storage_unavailable')
      await expectCode(openHasty().delete(key), 'storage_unavailable')
      proxy.fault = { type: 'none' }
      // A delete whose answer was lost has happened; putting again is right either way.
      const patient = withRetry(store)
      await patient.put(key, bytes)
      expect(Buffer.compare(await patient.get(key), bytes)).toBe(0)
    })

  for (const type of ['cut', 'stall'] as const)
    it(`a body that ends early (${type}) is storage_unavailable, never given`, async () => {
      const key = `faults/${crypto.randomUUID()}`
      await openPatient().put(key, bytes)
      proxy.fault = { type, afterBytes: 50_000 }
      await expectCode(openHasty().get(key), 'storage_unavailable')
      expect(proxy.passedBytes).toBeGreaterThan(40_000)
    })

  it('retries carry a put over a moment of failure', async () => {
    const key = `faults/${crypto.randomUUID()}`
    proxy.fault = { type: 'answer', text: answer(500) }
    const retrying = withRetry(openPatient(), {
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

function answer(status: number): string {
  return `HTTP/1.1 ${status} Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
}
