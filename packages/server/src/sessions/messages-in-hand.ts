/** What is taken in and not dealt with: batches that wait for their turn, content that waits for the store. */
const allBytesMax = 256 << 20
/** The same for one connection. A mount that comes back sends all that it acknowledged as fast as it can. */
const bytesMax = 64 << 20
/** For one connection, once all of them have too much. */
const crowdedBytesMax = 1 << 20
/** Beside its bytes, what a message takes while it waits. */
const messageBytes = 1 << 10

/** A WebSocket: it reads nothing more while it is paused. */
interface Pausable {
  pause(): void
  resume(): void
}

/**
 * Stops reading from connections that send faster than the server works, so that what waits has a bound. Their clients
 * notice that the network takes nothing more.
 */
export class MessagesInHand {
  #bytes = 0
  readonly #paused = new Set<MessagesOfOne>()

  of(socket: Pausable): MessagesOfOne {
    return new MessagesOfOne(this, socket)
  }

  get bytesMax(): number {
    return this.#bytes > allBytesMax ? crowdedBytesMax : bytesMax
  }

  add(from: MessagesOfOne, bytes: number): void {
    this.#bytes += bytes
    if (from.pauseIfFull()) this.#paused.add(from)
  }

  take(bytes: number): void {
    this.#bytes -= bytes
    for (const paused of this.#paused) if (paused.resumeIfRoom()) this.#paused.delete(paused)
  }

  forget(one: MessagesOfOne): void {
    this.#paused.delete(one)
  }
}

/** Those of one connection. */
export class MessagesOfOne {
  readonly #all: MessagesInHand
  readonly #socket: Pausable
  #bytes = 0

  constructor(all: MessagesInHand, socket: Pausable) {
    this.#all = all
    this.#socket = socket
  }

  /** Until it is dealt with. */
  async hold(length: number, dealing: Promise<void>): Promise<void> {
    const bytes = length + messageBytes
    this.#bytes += bytes
    this.#all.add(this, bytes)
    await dealing
    this.#bytes -= bytes
    this.#all.take(bytes)
  }

  /** The connection is over. What it sent goes on until it is dealt with. */
  end(): void {
    this.#all.forget(this)
  }

  pauseIfFull(): boolean {
    const isFull = this.#bytes > this.#all.bytesMax
    if (isFull) this.#socket.pause()
    return isFull
  }

  resumeIfRoom(): boolean {
    const hasRoom = this.#bytes <= this.#all.bytesMax / 2
    if (hasRoom) this.#socket.resume()
    return hasRoom
  }
}
