import { it } from 'vitest'
import type { StoreCase } from '../conformance/store-case.ts'

/** Opens what a suite tests, once for each case. It may share its disk or database with the other cases. */
export type StoreSetup<Store> = () => Promise<{
  readonly store: Store
  readonly dispose?: () => Promise<void>
}>

/** Each case as a test of its own. */
export function runCases<Store>(
  cases: readonly StoreCase<Store>[],
  setup: StoreSetup<Store>,
): void {
  for (const { name, run } of cases)
    it(name, async () => {
      const { store, dispose } = await setup()
      try {
        await run(store)
      } finally {
        await dispose?.()
      }
    })
}
