import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isSigned } from './signature.ts'

const token = 'access-token'
/** As the e2b package signs. */
const sign = (...parts: string[]): string =>
  `v1_${createHash('sha256').update(parts.join(':')).digest('base64').replace(/=+$/, '')}`
const query = (fields: Record<string, string>): URLSearchParams => new URLSearchParams(fields)

describe('a signed address', () => {
  it('is good for its path, operation, user and time', () => {
    const signature = sign('/a:b', 'read', 'user', token, '2000')
    const fields = { path: '/a:b', username: 'user', signature, signature_expiration: '2000' }
    expect(isSigned(query(fields), 'read', token, 1_999_000)).toBe(true)
    expect(isSigned(query(fields), 'read', token, 2_001_000)).toBe(false)
    expect(isSigned(query(fields), 'write', token, 1_999_000)).toBe(false)
    expect(isSigned(query({ ...fields, path: '/a' }), 'read', token, 0)).toBe(false)
  })

  it('for reading one file is good for writing no other, wherever its colons are', () => {
    const signature = sign('/a:write:root', 'read', 'user', token)
    const fields = { path: '/a', username: 'root:read:user', signature }
    expect(isSigned(query(fields), 'write', token, 0)).toBe(false)
    const late = { path: '/a', username: '', signature, signature_expiration: `x:${token}` }
    expect(isSigned(query(late), 'read', token, 0)).toBe(false)
  })
})
