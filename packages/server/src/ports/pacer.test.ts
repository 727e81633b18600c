import { Nodes, type Steps } from '@cairn/core'
import { MemoryNodeStore } from '@cairn/core/testing'
import { describe, expect, it } from 'vitest'
import { loopPacer } from './pacer.ts'
import { sha256 } from './content-worker.ts'

const nodes = new Nodes({ store: new MemoryNodeStore(), hash: sha256, pacer: loopPacer })

describe('pacer', () => {
  it('a walk lets timers run: one that waits for a timer ends', async () => {
    let isOver = false
    setTimeout(() => (isOver = true))
    const walk = function* (): Steps<string> {
      while (!isOver) yield
      return 'ended'
    }
    expect(await nodes.run(walk())).toBe('ended')
  })

  it('walks share the loop: each gets on while the others do', async () => {
    const counts = [0, 0, 0]
    const walk = function* (own: number): Steps<void> {
      while (counts.some((count) => count < 1000)) {
        counts[own]!++
        yield
      }
    }
    await Promise.all(counts.map((_, own) => nodes.run(walk(own))))
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(1000)
  })

  it('an error of a walk ends it, and the others go on', async () => {
    const failing = function* (): Steps<void> {
      yield
      throw new Error('no such thing')
    }
    const counting = function* (): Steps<number> {
      let count = 0
      while (count < 10_000) {
        count++
        yield
      }
      return count
    }
    const [failed, counted] = await Promise.allSettled([
      nodes.run(failing()),
      nodes.run(counting()),
    ])
    expect(failed.status).toBe('rejected')
    expect(counted).toEqual({ status: 'fulfilled', value: 10_000 })
  })
})
