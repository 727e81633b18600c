import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isSigned, whyNotSigned } from './signature.ts'

const token = 'access-token'
/** As the e2b package signs. */
const sign = (...parts: string[]): string =>
  `v1_${createHash('sha256').update(parts.join(':')).digest('base64').replace(/=+$/, '')}`
const query = (fields: Record<string, string>): URLSearchParams => new URLSearchParams(fields)

describe('a signed address', () => {
  it('a signed address is good for its path, operation, user and time', () => {
    const signature = sign('/a:b', 'read', 'user', token, '2000')
    const fields = { path: '/a:b', username: 'user', signature, signature_expiration: '2000' }
    const why = (change: object, operation: 'read' | 'write', nowMs: number): unknown =>
      whyNotSigned(query({ ...fields, ...change }), operation, token, nowMs)
    expect(why({}, 'read', 1_999_000)).toBeUndefined()
    expect(why({}, 'read', 2_001_000)).toBe('signature is already expired')
    expect(why({}, 'write', 1_999_000)).toBe('invalid signature')
    expect(why({ path: '/a' }, 'read', 2_001_000)).toBe('invalid signature')
    expect(whyNotSigned(query({ path: '/a' }), 'read', token, 0)).toBe(
      'missing signature query parameter',
    )
  })

  it('for reading one file is good for writing no other, wherever its colons are', () => {
    const signature = sign('/a:write:root', 'read', 'user', token)
    const fields = { path: '/a', username: 'root:read:user', signature }
    expect(isSigned(query(fields), 'write', token)).toBe(false)
    const late = { path: '/a', username: '', signature, signature_expiration: `x:${token}` }
    expect(isSigned(query(late), 'read', token)).toBe(false)
  })
})
