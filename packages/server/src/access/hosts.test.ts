import { describe, expect, it } from 'vitest'
import { isLoopback, loopbackHosts } from './hosts.ts'

describe('the hosts of a server on loopback', () => {
  const require = loopbackHosts(['tunnel.example'])

  it.each([
    { host: 'localhost:7070' },
    { host: 'LOCALHOST' },
    { host: '127.0.0.1:7070' },
    { host: '127.1.2.3' },
    { host: '[::1]:7070' },
    { host: 'a.localhost:1' },
    { host: 'Tunnel.example:443' },
    { host: 'localhost', origin: 'http://localhost:3000' },
    {},
  ])('%o is answered', (headers) => expect(() => require(headers)).not.toThrow())

  it.each([
    { host: 'evil.example' },
    { host: 'evil.example:7070' },
    { host: '127.0.0.1.evil.example' },
    { host: 'localhost.evil.example' },
    { host: '10.0.0.1' },
    { host: '' },
    { host: 'localhost', origin: 'http://evil.example' },
    { host: 'localhost', origin: 'null' },
    { host: 'localhost', origin: 'file://' },
  ])('%o is refused', (headers) =>
    expect(() => require(headers)).toThrow(expect.objectContaining({ code: 'host_refused' })),
  )

  it('knows which addresses are loopback', () => {
    const hosts = ['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::', '10.1.2.3', 'example.org']
    expect(hosts.filter(isLoopback)).toEqual(['127.0.0.1', '::1', 'localhost'])
  })
})
