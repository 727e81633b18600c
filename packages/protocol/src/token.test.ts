import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromBase64Url, toBase64Url } from './base64.ts'
import { accessOperations } from './grant.ts'
import { decodeCaveat, encodeCaveat, formatToken, grantOfToken, parseToken } from './token.ts'

const signature = 'A'.repeat(43)

describe('base64url', () => {
  it('base64url is what Node writes, and reads back', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = toBase64Url(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64url'))
        expect(fromBase64Url(text)).toEqual(bytes)
      }),
    )
  })

  it.each(['A', 'AB', 'A+', 'AA=='])('%s is no spelling of anything', (text) =>
    expect(fromBase64Url(text)).toBe(undefined),
  )
})

describe('a caveat', () => {
  it('comes back as it was', () => {
    const caveat = {
      rules: [{ prefix: '/caf\xc3\xa9/\xff', operations: ['read', 'write'] as const }],
      deny: ['/x'],
      layer: 'ly_1',
      maxBytes: 0,
      notAfterMs: 17,
    }
    expect(decodeCaveat(encodeCaveat(caveat))).toEqual(caveat)
    expect(decodeCaveat(encodeCaveat({}))).toEqual({})
  })

  it.each([
    ['one of a later version', { allow: [['/', 'read']], hours: 3 }],
    ['no object', [1]],
    ['an operation that is none', { allow: [['/', 'fly']] }],
    ['a prefix that is none', { allow: [['a/', 'read']] }],
    ['no number', { maxBytes: -1 }],
    ['rules that are none', { allow: 'read' }],
  ])('%s allows nothing at all', (_, json) => {
    const text = toBase64Url(new TextEncoder().encode(JSON.stringify(json)))
    expect(decodeCaveat(text)).toBe(undefined)
    expect(grantOfToken({ caveats: [encodeCaveat({}), text] })).toBe(undefined)
  })
})

describe('the text of a token', () => {
  it('the text of a token has an id, caveats and a signature', () => {
    const token = {
      id: 'tok_x-1',
      caveats: [encodeCaveat({}), encodeCaveat({ deny: ['/a'] })],
      signature,
    }
    expect(parseToken(formatToken(token))).toEqual(token)
    expect(grantOfToken(token)?.rules[0]?.operations).toEqual(accessOperations)
  })

  it.each([
    'cairn_abc',
    `cairn_t1.tok_1.${signature}`,
    `cairn_t2.tok_1.e30.${signature}`,
    `cairn_t1.key_1.e30.${signature}`,
    `cairn_t1.tok_1.e30.${signature}A`,
    `cairn_t1.tok_1.${'e30.'.repeat(33)}${signature}`,
    `cairn_t1.tok_1.${'e'.repeat(5000)}.${signature}`,
  ])('%s is none', (text) => expect(parseToken(text)).toBe(undefined))
})
