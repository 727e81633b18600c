import { type AccessOperation, accessOperations } from '@cairn/protocol'
import fc from 'fast-check'

export interface RandomRules {
  readonly allow: readonly { readonly path: string; readonly operations: AccessOperation[] }[]
  readonly deny: string[]
}

/** What a token may read, list and search below some of the places. Who may search may read. */
export function randomRules(places: readonly string[]): fc.Arbitrary<RandomRules> {
  const rule = fc.record({
    path: fc.constantFrom(...places),
    operations: fc
      .subarray(['read', 'list', 'search'] as const, { minLength: 1 })
      .map((some) => new Set<AccessOperation>(some.includes('search') ? [...some, 'read'] : some))
      .map((asked) => accessOperations.filter((each) => asked.has(each))),
  })
  return fc.record({
    allow: fc.array(rule, { minLength: 1, maxLength: 3 }),
    deny: fc.subarray(places.slice(1), { maxLength: 2 }),
  })
}
