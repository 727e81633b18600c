import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreCase } from '@cairn/core/conformance'
import type { CaseFailure, StoreRole, SuiteResult } from './report.ts'

/** The longest takes a second on a store nearby, and some hundred requests. */
const caseMsMax = 120_000

export interface Suite<Store> {
  readonly store: StoreRole
  readonly name: string
  readonly cases: readonly StoreCase<Store>[]
}

export interface SuiteOptions {
  readonly signal: AbortSignal
  /** Hears of each case before it runs. */
  readonly onCase: (suite: string, name: string) => void
}

/** Runs the cases one after the other, all of them whatever fails. Rejects with the signal's reason. */
export async function runSuite<Store>(
  suite: Suite<Store>,
  store: Store,
  { signal, onCase }: SuiteOptions,
): Promise<SuiteResult> {
  const start = performance.now()
  const failures: CaseFailure[] = []
  for (const { name, run } of suite.cases) {
    signal.throwIfAborted()
    onCase(suite.name, name)
    const reason = await findFailure(run(store), signal)
    if (reason !== undefined) failures.push({ case: name, reason })
  }
  return {
    store: suite.store,
    name: suite.name,
    passed: suite.cases.length - failures.length,
    failures,
    seconds: (performance.now() - start) / 1000,
  }
}

/** Why it failed; undefined when it did not. A case that hangs is left alone, because nothing can end it. */
async function findFailure(
  running: Promise<void>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const over = new AbortController()
  const limit = sleep(caseMsMax, `it took longer than ${caseMsMax / 1000} s`, {
    signal: AbortSignal.any([signal, over.signal]),
  })
  try {
    return await Promise.race([running.then(() => undefined, describe), limit])
  } catch {
    signal.throwIfAborted()
    throw new Error('the wait for a case ended early')
  } finally {
    limit.catch(() => {})
    over.abort()
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
