import type { Op } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { DoneBefore, type Requests } from './done-before.ts'

const time = { sec: 1, nsec: 0 }
const unlink = (name: string): Op => ({
  type: 'unlink',
  time,
  parent: 1 as Ino,
  name: name as Name,
})

describe('a request that the kernel asks again', () => {
  const before: Requests = {
    done: new Map([[10, unlink('done')]]),
    asked: new Map([
      [20, { op: unlink('taken'), number: 1 }],
      [30, { op: unlink('in the log'), number: 2 }],
      [40, { op: unlink('refused'), number: 3 }],
    ]),
    taken: new Set([1]),
  }
  let closed = 0
  const requests = new DoneBefore(before, async () => {
    closed++
    requests.own(2)
  })

  it.each([
    ['that was acknowledged is done', 10, 'done', 0],
    ['that the server was seen to take is done', 20, 'taken', 0],
    ['that the log has is done', 30, 'in the log', 1],
    ['that the log has not, and will not have, is not', 40, undefined, 1],
    // Another program may have asked for the very same before, and been answered.
    ['that was not recorded is not', 50, undefined, 0],
  ])('%s', async (_, request, name, looked) => {
    closed = 0
    const found = await requests.find(request)
    expect([found && 'name' in found ? found.name : undefined, closed]).toEqual([name, looked])
  })
})
