import { type Hash, toByteString } from '@cairn/protocol'

/** One thing that a contract promises. It may share its disk or database with the others. */
export interface StoreCase<Store> {
  /** States a fact. */
  readonly name: string
  /** Rejects where the store does not keep the promise. */
  readonly run: (store: Store) => Promise<void>
}

export type StoreTest<Store> = (name: string, run: StoreCase<Store>['run']) => void

/** The cases that `describe` names, in that order. They need no test runner: operators run them on their own stores. */
export function casesOf<Store>(
  describe: (test: StoreTest<Store>) => void,
): readonly StoreCase<Store>[] {
  const cases: StoreCase<Store>[] = []
  describe((name, run) => cases.push({ name, run }))
  return cases
}

/** The same cases on what `open` makes of another store. */
export function casesOn<Store, Part>(
  cases: readonly StoreCase<Part>[],
  open: (store: Store) => Part,
): readonly StoreCase<Store>[] {
  return cases.map(({ name, run }) => ({ name, run: (store) => run(open(store)) }))
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

export function uniqueId<Id extends string = string>(): Id {
  return crypto.randomUUID() as string as Id
}
