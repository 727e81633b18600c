import { Socket } from 'node:net'
import { hearLines, sendLine } from './json-lines.ts'

/** Messages between a supervisor and its daemon, each a line of JSON, over a socket that ends with either of them. */
export class Channel<In, Out> {
  /** The other end has gone. */
  readonly closed: Promise<void>
  readonly fd: number
  readonly #socket: Socket
  readonly #listeners = new Set<(message: In) => void>()

  constructor(fd: number) {
    this.fd = fd
    this.#socket = new Socket({ fd, readable: true, writable: true })
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve()))
    // Dropped if the other end has gone.
    this.#socket.on('error', () => undefined)
    hearLines(this.#socket, (message) => this.#take(message as In))
  }

  listen(listener: (message: In) => void): void {
    this.#listeners.add(listener)
  }

  /** The next message of that type. */
  next<Type extends In>(isWanted: (message: In) => message is Type): Promise<Type> {
    return new Promise((resolve) => {
      const listener = (message: In): void => {
        if (!isWanted(message)) return
        this.#listeners.delete(listener)
        resolve(message)
      }
      this.listen(listener)
    })
  }

  send(message: Out): void {
    sendLine(this.#socket, message)
  }

  /**
   * What comes from now on is for another process that has the socket, too. A paused socket would still read: Node fills
   * its buffer. Closing ours leaves theirs open.
   */
  leave(): void {
    const { writableLength } = this.#socket
    if (writableLength === 0) this.#socket.destroy()
    else this.#socket.pause().write('', () => this.#socket.destroy())
  }

  /** Once everything is on its way. */
  async end(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.end(() => resolve()))
  }

  #take(message: In): void {
    for (const listener of this.#listeners) listener(message)
  }
}
