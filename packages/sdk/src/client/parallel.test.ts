import { describe, expect, it } from 'vitest'
import { forEachParallel } from './parallel.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('forEachParallel', () => {
  it.each([1, 3, 100])('at most %i run at a time, and all are done', async (limit) => {
    const done: number[] = []
    let running = 0
    let most = 0
    await forEachParallel(Array(10).keys(), limit, async (item) => {
      most = Math.max(most, ++running)
      await turn()
      running--
      done.push(item)
    })
    expect(most).toBe(Math.min(limit, 10))
    expect(done.toSorted((a, b) => a - b)).toEqual([...Array(10).keys()])
  })

  it('the first failure stops the taking, is told to the others and thrown once they have ended', async () => {
    const taken: number[] = []
    const told: unknown[] = []
    const work = async (item: number, signal: AbortSignal): Promise<void> => {
      taken.push(item)
      if (item === 1) throw new Error('first')
      await turn()
      await turn()
      told.push(signal.aborted)
    }
    await expect(forEachParallel(Array(10).keys(), 2, work)).rejects.toThrow('first')
    expect(taken.length).toBeLessThan(5)
    expect(told).toContain(true)
  })

  it('a source that fails is a failure, after what had begun', async () => {
    let finished = 0
    async function* source(): AsyncGenerator<number> {
      yield 1
      await turn()
      throw new Error('no more')
    }
    const work = async (): Promise<void> => {
      await turn()
      await turn()
      finished++
    }
    await expect(forEachParallel(source(), 4, work)).rejects.toThrow('no more')
    expect(finished).toBe(1)
  })
})
