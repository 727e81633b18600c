import { expect, it } from 'vitest'
import { shareTurns } from './share-turns.ts'

function setUp(): {
  share: (thing: string) => Promise<void>
  turns: { thing: string; end: PromiseWithResolvers<void> }[]
} {
  const turns: { thing: string; end: PromiseWithResolvers<void> }[] = []
  const share = shareTurns((thing: string) => {
    const end = Promise.withResolvers<void>()
    turns.push({ thing, end })
    return end.promise
  })
  return { share, turns }
}

it('callers that come during a turn share the next one, which begins after it', async () => {
  const { share, turns } = setUp()
  const first = share('a')
  const later = [share('a'), share('a'), share('a')]
  expect(turns.length).toBe(1)
  turns[0]!.end.resolve()
  await first
  await expect.poll(() => turns.length).toBe(2)
  turns[1]!.end.resolve()
  await Promise.all(later)
  expect(turns.length).toBe(2)
})

it('a turn that fails fails those that share it, and not the next', async () => {
  const { share, turns } = setUp()
  const first = share('a')
  const second = share('a')
  turns[0]!.end.reject(new Error('the disk is away'))
  await expect(first).rejects.toThrow('away')
  await expect.poll(() => turns.length).toBe(2)
  turns[1]!.end.resolve()
  await second
})

it('other things do not wait', async () => {
  const { share, turns } = setUp()
  void share('a')
  void share('b')
  expect(turns.map(({ thing }) => thing)).toEqual(['a', 'b'])
})
