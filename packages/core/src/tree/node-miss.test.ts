import type { Hash } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { entriesOf, keyOf, TreeFixture, valueOf } from '../../test/tree-fixture.ts'
import { findValue } from './lookup.ts'
import { NodeMiss } from './node-miss.ts'
import { runAtOnce, takeSteps } from './steps.ts'

const miss = (hash: string): NodeMiss => new NodeMiss([hash as Hash])

/** What came out of steps that throw these, in order. */
function outcomeOf(errors: readonly (Error | NodeMiss | undefined)[]): unknown {
  try {
    runAtOnce(
      takeSteps(errors, (error) => {
        if (error) throw error
      }),
    )
    return undefined
  } catch (error) {
    return error
  }
}

describe('steps of one read', () => {
  it('the steps of a read are repeated for each level of a tree, not for each node that is missed', async () => {
    const tree = new TreeFixture()
    const root = await tree.build(entriesOf(20_000))
    const { nodes, store } = tree.reopen()
    const numbers = Array.from({ length: 200 }, (_, index) => index * 100)
    let runs = 0
    const found = await nodes.readSteps(function* () {
      const values: (Uint8Array | undefined)[] = []
      runs++
      yield* takeSteps(numbers, (n) => void values.push(findValue(nodes, root, keyOf(n))))
      return values
    })
    expect(found).toEqual(numbers.map(valueOf))
    expect(store.loads).toBeGreaterThan(100)
    expect(runs).toBe(1 + 1 + tree.level(root))
  })

  it('all that is missed is said once', () => {
    const missed = outcomeOf([miss('a'), undefined, new NodeMiss(['b', 'a'] as Hash[]), miss('c')])
    expect(missed).toEqual(new NodeMiss(['a', 'b', 'c'] as Hash[]))
  })

  it('an error is thrown where it comes, but says nothing after a miss', () => {
    const error = new Error('no such thing')
    expect(outcomeOf([undefined, error, miss('a')])).toBe(error)
    expect(outcomeOf([miss('a'), error])).toEqual(miss('a'))
  })
})
