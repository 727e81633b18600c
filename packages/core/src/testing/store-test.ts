import { expect, it } from 'vitest'
import { type ErrorCode, type Hash, isCairnError, toByteString } from '@cairn/protocol'

/** Opens what a suite tests, once for each test. It may share its disk or database with the other tests. */
export type StoreSetup<Store> = () => Promise<{
  readonly store: Store
  readonly dispose?: () => Promise<void>
}>

export type StoreTest<Store> = (title: string, body: (store: Store) => Promise<void>) => void

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

/** All runtimes have it. Declared here alone: what is no test takes chance from a port. */
declare const crypto: {
  randomUUID(): string
  getRandomValues(bytes: Uint8Array): Uint8Array
}

/** Chance, and not a counter: what an earlier run left in the store must not be met again. */
export function uniqueHash(): Hash {
  return toByteString(crypto.getRandomValues(new Uint8Array(32))) as Hash
}

export function uniqueId<Id extends string>(): Id {
  return crypto.randomUUID() as string as Id
}

export async function expectCode(
  promise: Promise<unknown>,
  code: ErrorCode,
  subject: string,
): Promise<void> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isCairnError(error)) throw new Error(`expected ${code}, got ${String(error)}`)
  expect([error.code, error.subject]).toEqual([code, subject])
}
