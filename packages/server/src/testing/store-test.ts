import { expect, it } from 'vitest'
import type { StoreSetup } from '@cairn/core/testing'
import { type ErrorCode, isCairnError } from '@cairn/protocol'

export type StoreTest<Store> = (title: string, body: (store: Store) => Promise<void>) => void

/** A test that opens what it tests, and closes it whatever happens. */
export function storeTest<Store>(setup: StoreSetup<Store>): StoreTest<Store> {
  return (title, body) =>
    it(title, async () => {
      const { store, dispose } = await setup()
      try {
        await body(store)
      } finally {
        await dispose?.()
      }
    })
}

/** The code a promise rejects with; anything else than a CairnError fails the test. */
export async function codeOf(promise: Promise<unknown>): Promise<ErrorCode> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (isCairnError(error)) return error.code
  throw new Error(`expected a CairnError, got ${String(error)}`, { cause: error })
}

export async function expectCode(
  promise: Promise<unknown>,
  code: ErrorCode,
  subject?: string,
): Promise<void> {
  expect(await codeOf(promise)).toBe(code)
  if (subject !== undefined) await expect(promise).rejects.toMatchObject({ subject })
}

/** Chance, and not a counter: what an earlier test left in the store must not be met again. */
export function uniqueId(): string {
  return crypto.randomUUID()
}

/** Stores may give a subclass, as Node's Buffer is. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes)
}
