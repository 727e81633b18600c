import { setTimeout as sleep } from 'node:timers/promises'
import { errorTable, isCairnError } from '@cairn/protocol'
import type { ObjectInfo, ObjectStore } from './object-store.ts'

export interface RetryOptions {
  /** The first one included. */
  readonly attempts: number
  /** Doubled each time; half of it is left to chance, so that those who failed together do not come back together. */
  readonly firstDelayMs: number
  readonly delayMsMax: number
  /** A failure later than this is not retried: the caller has waited long enough. */
  readonly withinMs?: number
  readonly sleep?: (ms: number) => Promise<unknown>
  readonly random?: () => number
}

/** About two seconds in all: a restart of a store's process, not its outage. */
const objectRetry: RetryOptions = {
  attempts: 5,
  firstDelayMs: 100,
  delayMsMax: 2000,
  withinMs: 10_000,
}

/** Runs `work` again while it rejects with what `isPassing` takes for passing. */
export async function retry<T>(
  work: () => Promise<T>,
  isPassing: (error: unknown) => boolean,
  options: RetryOptions,
): Promise<T> {
  const { random = Math.random, withinMs = Infinity } = options
  const begin = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const isLate = performance.now() - begin > withinMs
      if (attempt >= options.attempts || isLate || !isPassing(error)) throw error
    }
    const delayMs = Math.min(options.firstDelayMs * 2 ** (attempt - 1), options.delayMsMax)
    await (options.sleep ?? sleep)(delayMs * (0.5 + random() / 2))
  }
}

/** Sends again what may be sent again. Safe for every call, because a key names the same bytes for ever. */
export function withRetry(store: ObjectStore, options: RetryOptions = objectRetry): ObjectStore {
  const again = <T>(work: () => Promise<T>): Promise<T> => retry(work, isPassing, options)
  return {
    put: (key, ...parts) => again(() => store.put(key, ...parts)),
    get: (key, range) => again(() => store.get(key, range)),
    delete: (key) => again(() => store.delete(key)),
    list: (prefix, after) => listAgain(store, options, prefix, after),
    close: () => store.close(),
  }
}

function isPassing(error: unknown): boolean {
  return isCairnError(error) && errorTable[error.code].retry === 'same-request'
}

/** A listing that breaks off goes on after the last key it gave. */
async function* listAgain(
  store: ObjectStore,
  options: RetryOptions,
  prefix: string,
  after: string | undefined,
): AsyncGenerator<ObjectInfo> {
  let last = after
  let objects = store.list(prefix, last)[Symbol.asyncIterator]()
  for (;;) {
    const next = await retry(
      async () => {
        try {
          return await objects.next()
        } catch (error) {
          objects = store.list(prefix, last)[Symbol.asyncIterator]()
          throw error
        }
      },
      isPassing,
      options,
    )
    if (next.done) return
    last = next.value.key
    yield next.value
  }
}
