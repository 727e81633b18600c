import type { Ino } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { KnownDirectories } from './known-directories.ts'

const [one, two] = [1, 2] as [Ino, Ino]

describe('what a session may have cached', () => {
  it('what a session may have cached is all, or what it looked at', () => {
    expect(new KnownDirectories(true).has(one)).toBe(true)
    const known = new KnownDirectories(false)
    known.add([one])
    expect([known.has(one), known.has(two)]).toEqual([true, false])
  })

  it('what a session may have cached is known until the session has forgotten it, and asked for twice at once is waited for twice', async () => {
    const known = new KnownDirectories(true)
    const asked: ((isDone: boolean) => void)[] = []
    const ask = (): Promise<boolean> => new Promise((resolve) => asked.push(resolve))
    const both = [known.forget([one], ask), known.forget([one], ask)]
    asked[0]!(true)
    await both[0]
    expect(known.has(one)).toBe(true)
    asked[1]!(true)
    await both[1]
    expect([known.has(one), known.has(two)]).toEqual([false, true])
    await known.forget([one], () => expect.unreachable())
  })

  it('what a session may have cached is known when the session looked while it was asked, or did not answer', async () => {
    const known = new KnownDirectories(true)
    await known.forget([one], async () => {
      known.add([one])
      return true
    })
    expect(known.has(one)).toBe(true)
    await known.forget([one], async () => false)
    expect(known.has(one)).toBe(true)
  })

  it('seems to be unused after 16 changes of others since the session used it', () => {
    const known = new KnownDirectories(true)
    const unused = (): number => known.noteChanged([one]).length
    for (let n = 0; n < 15; n++) expect(unused()).toBe(0)
    known.noteUsed([one])
    for (let n = 0; n < 15; n++) expect(unused()).toBe(0)
    expect(unused()).toBe(1)
  })
})
