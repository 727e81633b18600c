import { Socket } from 'node:net'

/** Messages between a supervisor and its daemon, each a line of JSON, over a socket that ends with either of them. */
export class Channel<In, Out> {
  /** Whoever is at the other end has gone. */
  readonly closed: Promise<void>
  readonly #socket: Socket
  readonly #listeners = new Set<(message: In) => void>()

  constructor(fd: number) {
    this.#socket = new Socket({ fd, readable: true, writable: true })
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve()))
    // Told to nobody, if nobody is there any more.
    this.#socket.on('error', () => undefined)
    // By hand: readline takes U+2028 for the end of a line, too, and a path may have one.
    let rest = ''
    this.#socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) this.#take(JSON.parse(line) as In)
    })
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
    this.#socket.write(`${JSON.stringify(message)}\n`)
  }

  /** Once everything is on its way. */
  async end(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.end(() => resolve()))
  }

  #take(message: In): void {
    for (const listener of this.#listeners) listener(message)
  }
}
