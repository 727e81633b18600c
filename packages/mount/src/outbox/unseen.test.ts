import type { Ino } from '@cairn/protocol'
import { expect, it } from 'vitest'
import { Unseen } from './unseen.ts'

const [d, e] = [2, 3] as [Ino, Ino]

it('a directory of a batch is concerned until the log has the batch, or a later one', () => {
  const unseen = new Unseen()
  const directories = new Set<Ino>()
  unseen.add(1, directories)
  directories.add(d)
  unseen.add(2, new Set([e]))
  expect([unseen.concerns(d), unseen.concerns(e)]).toEqual([true, true])
  expect([unseen.take(2), unseen.concerns(d), unseen.concerns(e)]).toEqual([true, false, false])
  expect([unseen.take(1), unseen.take(2), unseen.take(3)]).toEqual([false, false, false])
})
