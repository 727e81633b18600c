import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** What happens to clients that connect through the proxy. */
export type Fault =
  | { readonly type: 'none' }
  /** Connections are closed at once, as by a server that has died. */
  | { readonly type: 'refuse' }
  /** Everything is swallowed and the connection stays open. */
  | { readonly type: 'silence' }
  /** The answer is reset after that many bytes. */
  | { readonly type: 'cut'; readonly afterBytes: number }
  /** The answer stops after that many bytes, and the connection stays open. */
  | { readonly type: 'stall'; readonly afterBytes: number }
  /** A request that has this text arrives, its answer does not: the connection is reset. */
  | { readonly type: 'lose-answer'; readonly to: string }
  /** These bytes are the answer to whatever is asked. */
  | { readonly type: 'answer'; readonly text: string }

/** A way to a server that can be broken, and fixed, while it is used. */
export class FaultProxy {
  readonly port: number
  /** Bytes of the last answer that went through before it was broken off, for telling that it was. */
  passedBytes = 0
  #fault: Fault = { type: 'none' }
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
  }

  static async start(target: number): Promise<FaultProxy> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (typeof address !== 'object' || !address) throw new Error('a proxy without a port')
    const proxy = new FaultProxy(server, address.port)
    server.on('connection', (client) => proxy.#join(client, target))
    return proxy
  }

  /** From now on, for new connections; those that are open are cut, so that none escapes it. */
  set fault(fault: Fault) {
    this.#fault = fault
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /** Nothing more goes through the open connections, and neither end is told: they stay open. */
  silence(): void {
    for (const socket of this.#sockets) socket.unpipe().resume()
  }

  async stop(): Promise<void> {
    this.#server.close()
    this.fault = { type: 'refuse' }
    await once(this.#server, 'close')
  }

  #join(client: Socket, target: number): void {
    const fault = this.#fault
    this.#watch(client)
    if (fault.type === 'refuse') return void client.resetAndDestroy()
    if (fault.type === 'silence') return void client.resume()
    if (fault.type === 'answer') return void client.once('data', () => client.end(fault.text))
    const server = connect(target, '127.0.0.1')
    this.#watch(server)
    client.pipe(server)
    if (fault.type === 'cut' || fault.type === 'stall') return this.#passUpTo(fault, server, client)
    server.pipe(client)
    if (fault.type === 'lose-answer') loseAnswer(fault.to, server, client)
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket)
    socket.setNoDelay()
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #passUpTo(
    { type, afterBytes }: Extract<Fault, { type: 'cut' | 'stall' }>,
    from: Socket,
    to: Socket,
  ): void {
    this.passedBytes = 0
    from.on('data', (chunk) => {
      const part = chunk.subarray(0, afterBytes - this.passedBytes)
      this.passedBytes += part.length
      to.write(part)
      // Ending first lets what was written arrive before the reset.
      if (part.length < chunk.length && type === 'cut') to.end(() => to.resetAndDestroy())
    })
  }
}

/** The sender of the request sees a lost connection; the receiver has answered. */
function loseAnswer(request: string, server: Socket, client: Socket): void {
  client.on('data', (chunk) => {
    if (!chunk.includes(request)) return
    server.unpipe(client)
    // Unpiped, it stands still.
    server.resume().once('data', () => client.resetAndDestroy())
  })
}
