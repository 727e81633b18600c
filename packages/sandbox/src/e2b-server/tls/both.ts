import type { Server } from 'node:http'
import { createServer, type Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { PortCertificate } from './authority.ts'

/** What a TLS client sends first. */
const handshake = 0x16

/**
 * Lets a server take TLS on the port where it takes plain HTTP: programs build `https://` from `getHost()`, and the SDK
 * is told one address. Gives what cuts the connections that use TLS.
 */
export function takeBoth(server: Server, { cert, key }: PortCertificate): () => void {
  const tls = createServer({ cert, key }) as TlsServer
  tls.requestTimeout = 0
  for (const event of ['request', 'upgrade'])
    tls.on(event, (...args: unknown[]) => server.emit(event, ...args))
  tls.on('tlsClientError', (_, socket) => socket.destroy())
  const plain = server.listeners('connection') as ((socket: Socket) => void)[]
  const open = new Set<Socket>()
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const ignore = (): void => void socket.destroy()
    socket.on('error', ignore)
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null
      if (first === null) return ignore()
      socket.unshift(first)
      socket.off('error', ignore)
      if (first[0] !== handshake) {
        for (const listener of plain) listener.call(server, socket)
        return
      }
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      tls.emit('connection', socket)
    })
  })
  return () => {
    for (const socket of open) socket.destroy()
  }
}
