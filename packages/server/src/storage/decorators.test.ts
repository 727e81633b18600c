import { describe, expect, it } from 'vitest'
import { runCases } from '@cairn/core/testing'
import { CairnError, type ErrorCode } from '@cairn/protocol'
import { MemoryObjectStore } from '../conformance/memory-object-store.ts'
import { keysUnder, objectStoreCases } from '../conformance/object-store.ts'
import { expectCode } from '@cairn/core/conformance'
import { withMetrics } from './metrics.ts'
import type { ObjectInfo, ObjectStore } from './object-store.ts'
import { type RetryOptions, withRetry } from './retry.ts'

describe('object store in memory', () => {
  runCases(objectStoreCases, async () => ({ store: new MemoryObjectStore() }))
})

describe('object store with retries and metrics', () => {
  runCases(objectStoreCases, async () => ({
    store: withRetry(withMetrics(new MemoryObjectStore(), () => {})),
  }))
})

/** Fails so often, then works. A listing fails before each object. */
class FailingStore extends MemoryObjectStore {
  attempts = 0
  failures: number
  readonly #code: ErrorCode

  constructor(failures: number, code: ErrorCode = 'storage_unavailable') {
    super()
    this.failures = failures
    this.#code = code
  }

  override async put(key: string, ...parts: readonly Uint8Array[]): Promise<void> {
    this.#fail()
    await super.put(key, ...parts)
  }

  override async *list(prefix: string, after?: string): AsyncGenerator<ObjectInfo> {
    for await (const each of super.list(prefix, after)) {
      this.#fail()
      yield each
    }
  }

  #fail(): void {
    this.attempts++
    if (this.failures-- > 0)
      throw new CairnError(this.#code, { what: 'do it', reason: 'on purpose' })
  }
}

describe('retries', () => {
  const delays: number[] = []
  const options: RetryOptions = {
    attempts: 5,
    firstDelayMs: 100,
    delayMsMax: 300,
    random: () => 1,
    sleep: async (ms) => delays.push(ms),
  }
  const retrying = (store: ObjectStore): ObjectStore => {
    delays.length = 0
    return withRetry(store, options)
  }

  it('pauses grow up to a limit', async () => {
    const store = new FailingStore(4)
    await retrying(store).put('a', Uint8Array.of(1))
    expect(delays).toEqual([100, 200, 300, 300])
    expect(store.objects.has('a')).toBe(true)
  })

  it('half of a pause is left to chance', async () => {
    const pauses: number[] = []
    const store = withRetry(new FailingStore(1), {
      ...options,
      random: () => 0,
      sleep: async (ms) => pauses.push(ms),
    })
    await store.put('a', Uint8Array.of(1))
    expect(pauses).toEqual([50])
  })

  it('an operation that timed out is not retried', async () => {
    const store = withRetry(new FailingStore(1), { ...options, withinMs: -1 })
    await expectCode(store.put('a', Uint8Array.of(1)), 'storage_unavailable')
  })

  it('the last failure is told', async () => {
    const store = new FailingStore(5)
    await expectCode(retrying(store).put('a', Uint8Array.of(1)), 'storage_unavailable')
    expect(store.attempts).toBe(5)
  })

  for (const code of ['storage_full', 'blob_missing', 'malformed'] as const)
    it(`${code} is not tried again`, async () => {
      const store = new FailingStore(1, code)
      await expectCode(retrying(store).put('a', Uint8Array.of(1)), code)
      expect(store.attempts).toBe(1)
    })

  it('a listing that breaks off goes on where it was', async () => {
    const store = new FailingStore(0)
    for (const key of ['a/1', 'a/2', 'a/3']) await store.put(key, Uint8Array.of(1))
    store.failures = 2
    expect(await keysUnder(retrying(store), 'a/')).toEqual(['a/1', 'a/2', 'a/3'])
    expect(delays.length).toBe(2)
  })
})
