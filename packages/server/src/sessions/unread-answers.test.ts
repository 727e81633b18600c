import { beforeEach, describe, expect, it } from 'vitest'
import { UnreadAnswers } from './unread-answers.ts'

const mebibyte = 1 << 20

/** A connection whose other end reads when the test says so. */
class Wire {
  bufferedBytes = 0
  send(): void {}
  close(): void {}
}

let wire: Wire
let isClosed: boolean
let asleep: (() => void)[]
let unread: UnreadAnswers
let made: number[]

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function wake(): Promise<void> {
  for (const resolve of asleep.splice(0)) resolve()
  await settle()
}

/** An answer that is in the buffer of the connection as soon as it is made. */
function ask(number: number, bytes: number): Promise<void> {
  return unread.make(bytes, async () => {
    made.push(number)
    wire.bufferedBytes += bytes
  })
}

beforeEach(() => {
  wire = new Wire()
  isClosed = false
  asleep = []
  made = []
  const sleep = (): Promise<void> => new Promise((resolve) => asleep.push(resolve))
  unread = new UnreadAnswers(wire, { sleep }, () => isClosed)
})

describe('answers that the client does not read', () => {
  it('400 of 4 MiB: two are made, the others wait until these are read', async () => {
    const asked = Array.from({ length: 400 }, (_, number) => ask(number, 4 * mebibyte))
    await settle()
    for (let looks = 0; looks < 10; looks++) await wake()
    expect(made).toEqual([0, 1])
    while (made.length < 400) {
      expect(wire.bufferedBytes).toBeLessThanOrEqual(8 * mebibyte)
      wire.bufferedBytes = 0
      await wake()
    }
    await Promise.all(asked)
    expect(made).toEqual(made.toSorted((a, b) => a - b))
  })

  it('answers that are being made count as well', async () => {
    const finish = Promise.withResolvers<void>()
    const first = unread.make(6 * mebibyte, () => finish.promise)
    const second = ask(2, 4 * mebibyte)
    await settle()
    expect(made).toEqual([])
    finish.resolve()
    await first
    await wake()
    await second
    expect(made).toEqual([2])
  })

  it('one that is larger than all of the room is made alone', async () => {
    await ask(1, 9 * mebibyte)
    expect(made).toEqual([1])
  })

  it('for a connection that is closed nothing more is made', async () => {
    const asked = [ask(1, 8 * mebibyte), ask(2, 8 * mebibyte), ask(3, 8 * mebibyte)]
    await settle()
    isClosed = true
    await wake()
    await Promise.all(asked)
    expect(made).toEqual([1])
  })

  it('too many that wait are refused', async () => {
    wire.bufferedBytes = 9 * mebibyte
    const asked = Array.from({ length: 10_000 }, (_, number) => ask(number, 1))
    await expect(ask(10_000, 1)).rejects.toThrow('at once')
    isClosed = true
    await settle()
    await wake()
    await Promise.all(asked)
  })
})
