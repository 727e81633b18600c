import { expect, it } from 'vitest'
import { FewAtOnce } from './few-at-once.ts'

it('lets so many through at a time, in their order, also after a failure', async () => {
  const few = new FewAtOnce(2)
  const order: number[] = []
  let running = 0
  let most = 0
  const work = async (number: number): Promise<void> => {
    order.push(number)
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    if (number === 1) throw new Error('no')
  }
  const all = [0, 1, 2, 3, 4].map((number) => few.pass(() => work(number)))
  const outcomes = await Promise.allSettled(all)
  expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([
    true,
    false,
    true,
    true,
    true,
  ])
  expect(order).toEqual([0, 1, 2, 3, 4])
  expect(most).toBe(2)
})
