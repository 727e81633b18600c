import { expectCode } from '@cairn/core/conformance'
import { describe, expect, it } from 'vitest'
import { parsePeerAddress } from './peers.ts'

describe('the address at which other servers reach this one', () => {
  it('the address at which other servers reach this one is of a server, perhaps below a path', () => {
    expect(parsePeerAddress('http://10.0.0.5:7070', true)).toBe('http://10.0.0.5:7070')
    expect(parsePeerAddress('https://cairn.example/a/', true)).toBe('https://cairn.example/a')
  })

  it('the address at which other servers reach this one is refused if it is none, or without a database that others share', async () => {
    const parse = async (address: string, isShared: boolean): Promise<string> =>
      parsePeerAddress(address, isShared)
    for (const address of ['10.0.0.5:7070', 'ws://host', 'http://user@host', 'http://host?a', ''])
      await expectCode(parse(address, true), 'invalid_argument')
    await expectCode(parse('http://10.0.0.5:7070', false), 'invalid_argument')
  })
})
