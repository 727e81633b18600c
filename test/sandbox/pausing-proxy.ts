import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on which everything can be held up, or cut. */
export interface PausingProxy {
  readonly url: string
  /** From now on nothing gets through, on connections that are open. */
  readonly pause: () => void
  /** Ends the connections that are open, in the middle of whatever they carry. Gives how many there were. */
  readonly cut: () => number
  readonly close: () => void
}

/** `onPiece` hears of everything that clients send, before it goes on. */
export async function startPausingProxy(url: string, onPiece?: () => void): Promise<PausingProxy> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    if (onPiece) client.on('data', onPiece)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => one.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pause: () => {
      for (const socket of sockets) socket.unpipe().pause()
    },
    cut: () => {
      const open = [...sockets]
      for (const socket of open) socket.destroy()
      return open.length / 2
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
