import { performance } from 'node:perf_hooks'
import { isCairnError } from '@cairn/protocol'
import { type Database, StatementConflict } from './database.ts'
import type { ObjectStore } from './object-store.ts'

/** One call of a store, after it has settled. */
export interface StoreCall {
  readonly store: 'database' | 'objects'
  readonly operation: string
  /** 'ok', or the code of the error. */
  readonly outcome: string
  readonly seconds: number
}

export type ObserveStore = (call: StoreCall) => void

/** Tells of each request to the object store. A listing is not timed: its reader sets the pace. */
export function withMetrics(store: ObjectStore, observe: ObserveStore): ObjectStore {
  return {
    put: (key, ...parts) => timed(observe, 'objects', 'put', () => store.put(key, ...parts)),
    get: (key, range) => timed(observe, 'objects', 'get', () => store.get(key, range)),
    delete: (key) => timed(observe, 'objects', 'delete', () => store.delete(key)),
    list: (prefix, after) => store.list(prefix, after),
    close: () => store.close(),
  }
}

export function withDatabaseMetrics(database: Database, observe: ObserveStore): Database {
  return {
    dialect: database.dialect,
    query: (sql, params) => timed(observe, 'database', 'query', () => database.query(sql, params)),
    transact: (statements) =>
      timed(observe, 'database', 'transact', () => database.transact(statements)),
    exclusively: (name, work) => database.exclusively(name, work),
    close: () => database.close(),
  }
}

async function timed<T>(
  observe: ObserveStore,
  store: StoreCall['store'],
  operation: string,
  call: () => Promise<T>,
): Promise<T> {
  const start = performance.now()
  const tell = (outcome: string): void =>
    observe({ store, operation, outcome, seconds: (performance.now() - start) / 1000 })
  try {
    const result = await call()
    tell('ok')
    return result
  } catch (error) {
    tell(outcomeOf(error))
    throw error
  }
}

function outcomeOf(error: unknown): string {
  if (isCairnError(error)) return error.code
  return error instanceof StatementConflict ? 'conflict' : 'internal'
}
