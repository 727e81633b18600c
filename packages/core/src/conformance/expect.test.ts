import { CairnError } from '@cairn/protocol'
import { describe, expect as claim, it } from 'vitest'
import { codeOf, expect, expectCode, rejectionOf } from './expect.ts'

describe('what holds passes', () => {
  it.each([
    ['numbers, NaN included', [1, Number.NaN], [1, Number.NaN]],
    ['bytes in any class', [Buffer.from('ab')], [new TextEncoder().encode('ab')]],
    ['an absent property and an undefined one', { a: 1, b: undefined }, { a: 1 }],
    ['sets in any order', new Set([1, 2]), new Set([2, 1])],
    ['maps all the way down', new Map([['a', [1]]]), new Map([['a', [1]]])],
  ])('%s', (_, one, other) => {
    expect(one).toEqual(other)
    expect(other).toEqual(one)
  })

  it('a part of the properties matches', () => {
    expect({ a: 1, b: { c: 2 } }).toMatchObject({ b: { c: 2 } })
  })
})

describe('what does not hold fails', () => {
  it.each([
    ['another number', 1, 2],
    ['zero and minus zero', 0, -0],
    ['a shorter array', [1], [1, 2]],
    ['an array and an object of the same entries', [1], { 0: 1 }],
    ['bytes and their numbers', Uint8Array.of(1), [1]],
    ['other bytes', Uint8Array.of(1), Uint8Array.of(2)],
    ['a smaller set', new Set([1]), new Set([1, 2])],
    ['another key', new Map([['a', 1]]), new Map([['b', 1]])],
    ['nothing and an object', null, {}],
  ])('%s', (_, one, other) => {
    claim(() => expect(one).toEqual(other)).toThrow(/^expected /)
    claim(() => expect(other).toEqual(one)).toThrow(/^expected /)
  })

  it('the message names both, and bytes by their number', () => {
    claim(() => expect(new Uint8Array(70_000)).toEqual([1, undefined])).toThrow(
      'expected [1,"undefined"], got "70000 bytes"',
    )
  })

  it('a promise that succeeds, a missing code and another subject', async () => {
    const error = new CairnError('blob_missing', {
      what: 'read it',
      reason: 'it is gone',
      subject: 'a',
    })
    const gone = async (): Promise<void> => {
      throw error
    }
    await expectCode(gone(), 'blob_missing', 'a')
    await claim(rejectionOf(Promise.resolve())).rejects.toThrow('it succeeded')
    await claim(codeOf(Promise.reject(new Error('other')))).rejects.toThrow('Error: other')
    await claim(expectCode(gone(), 'node_missing')).rejects.toThrow('node_missing')
    await claim(expectCode(gone(), 'blob_missing', 'b')).rejects.toThrow('"b"')
  })
})
