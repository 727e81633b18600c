import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { pathOfRequest, takePath } from './raw-path.ts'

const ask = (url: string): { routed: string; path: string } => {
  const request = { url } as IncomingMessage
  const routed = takePath(request)
  return { routed, path: pathOfRequest(request) }
}

describe('file paths in URLs', () => {
  it('bytes that are no UTF-8 arrive as they are', () => {
    expect(ask('/v1/workspaces/w/files/a/%FF?stat')).toEqual({
      routed: '/v1/workspaces/w/files?stat',
      path: '/a/\xff',
    })
  })

  it('the root may be written with and without its slash', () => {
    expect([ask('/v1/workspaces/w/files').path, ask('/v1/workspaces/w/files/').path]).toEqual([
      '/',
      '/',
    ])
  })

  it.each([
    '..',
    '%2e%2e',
    'a/../b',
    'a%2F..%2Fb',
    '%00',
    '%2',
    'x'.repeat(256),
    'a/'.repeat(2048),
  ])('%s is refused', (path) => {
    expect(() => ask(`/v1/workspaces/w/files/${path}`)).toThrow(/EINVAL|ENAMETOOLONG/)
  })
})
