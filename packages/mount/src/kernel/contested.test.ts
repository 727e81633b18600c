import type { Op } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { Contested } from './contested.ts'

const [one, other, quiet] = [2 as Ino, 3 as Ino, 4 as Ino]
const rename = { type: 'rename', parent: one, newParent: other } as Op
const create = { type: 'create', parent: one } as Op

describe('directories in which this mount and others change names', () => {
  let contested: Contested
  let nowMs: number
  let expired: string[]

  beforeEach(() => {
    nowMs = 0
    expired = []
    contested = new Contested({
      toldNames: (ino) => [{ name: `in ${ino}` as Name }],
      caches: { expire: (_, name) => expired.push(name) },
      nowMs: () => nowMs,
    })
  })

  it('directories in which this mount and others change names are those of changes that the server decides, for ten seconds after the last one', () => {
    contested.note(rename)
    nowMs = 6000
    contested.note(create)
    nowMs = 12_000
    expect([one, other, quiet, undefined].map((ino) => contested.has(ino))).toEqual([
      true,
      false,
      false,
      false,
    ])
    nowMs = 16_000
    expect(contested.has(one)).toBe(false)
  })

  it('the kernel forgets once what it knew of them before', () => {
    contested.note(create)
    contested.note(create)
    contested.note(rename)
    expect(expired).toEqual(['in 2', 'in 3'])
  })

  it('a change of a file says nothing of a directory', () => {
    contested.note({ type: 'write', ino: one } as Op)
    expect(contested.has(one)).toBe(false)
  })
})
