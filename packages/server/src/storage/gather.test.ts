import { describe, expect, it } from 'vitest'
import { gather } from './gather.ts'

describe('gathered calls', () => {
  it('that come while one is under way are made together, and each gets what became of all', async () => {
    const made: string[][] = []
    const ends: PromiseWithResolvers<void>[] = []
    const call = gather<string, number, number>(async (items) => {
      made.push([...items.keys()])
      await (ends[made.length - 1] = Promise.withResolvers()).promise
      return made.length
    })
    const first = call(new Map([['a', 1]]))
    await expect.poll(() => made).toEqual([['a']])
    const [second, third] = [call(new Map([['b', 2]])), call(new Map([['c', 3]]))]
    expect(made).toHaveLength(1)
    ends[0]!.resolve()
    expect(await first).toBe(1)
    await expect.poll(() => made).toEqual([['a'], ['b', 'c']])
    ends[1]!.resolve()
    expect(await Promise.all([second, third])).toEqual([2, 2])
  })

  it('that fail do so for all of them, and for none after', async () => {
    let isFull = true
    const call = gather<string, number, string>(async () => {
      if (isFull) throw new Error('the disk is full')
      return 'done'
    })
    const both = [call(new Map([['a', 1]])), call(new Map([['b', 2]]))]
    for (const each of both) await expect(each).rejects.toThrow('the disk is full')
    isFull = false
    expect(await call(new Map([['c', 3]]))).toBe('done')
  })
})
