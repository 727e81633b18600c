import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { connect } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sniffName } from './sniff.ts'

describe('the name that a connection says', () => {
  it('the name that a connection says is the server name of TLS, as soon as all of the greeting is there', async () => {
    const hello = await greeting('registry.example.org')
    expect(sniffName(hello)).toEqual({ name: 'registry.example.org' })
    for (const length of [0, 1, 4, 5, 100])
      expect(sniffName(hello.subarray(0, length))).toBe('more')
    expect(sniffName(await greeting(undefined))).toBe('none')
  })

  it.each([
    ['GET / HTTP/1.1\r\nAccept: *\r\nHost: a.example\r\n\r\n', { name: 'a.example' }],
    ['GET / HTTP/1.1\r\nhost:a.example:8080\r\n\r\n', { name: 'a.example' }],
    ['POST /x HTTP/1.1\r\nHost: a.ex', 'more'],
    ['GE', 'more'],
    ['GET / HTTP/1.0\r\n\r\n', 'none'],
    ['SSH-2.0-OpenSSH', 'none'],
    ['\u0016\u0003\u0001\u0000\u0005\u0001\u0000\u0000\u0001\u0000', 'none'],
  ])('the name in %j is %j', (text, expected) => {
    expect(sniffName(Buffer.from(text, 'latin1'))).toEqual(expected)
  })

  it('the name that a connection says is not waited for without end', () => {
    expect(sniffName(Buffer.from(`GET /${'x'.repeat(20_000)}`))).toBe('none')
  })
})

/** What a real client says first. */
async function greeting(servername: string | undefined): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', ...(servername && { servername }) })
  client.on('error', () => undefined)
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  return hello
}
