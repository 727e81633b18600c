import { CairnError } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'
import type { ClientSocket } from './connection.ts'

/** Answers that are on their way, of one session: made, or waiting for the other end to read. */
const bytesMax = 8 << 20
/** A mount has some hundreds on their way at most. */
const waitingMax = 10_000
const lookMs = 20

/**
 * Holds reads back while the other end does not read the answers it has: 400 unread ones of 4 MiB would take 1.6 GB of
 * memory. Requests are still taken in meanwhile, because renewals and pongs come the same way.
 */
export class UnreadAnswers {
  readonly #connection: ClientSocket
  readonly #clock: Pick<Clock, 'sleep'>
  readonly #isClosed: () => boolean
  /** Bytes of answers that are being made. */
  #bytes = 0
  #waiting = 0
  #queue: Promise<void> = Promise.resolve()

  constructor(connection: ClientSocket, clock: Pick<Clock, 'sleep'>, isClosed: () => boolean) {
    this.#connection = connection
    this.#clock = clock
    this.#isClosed = isClosed
  }

  /**
   * Makes an answer of up to that many bytes once there is room for it, in the order of the calls; none once the
   * connection is closed. Rejects where too many wait: then the connection is to be closed, because saying so in an answer
   * would take memory again.
   */
  async make(bytes: number, answer: () => Promise<void>): Promise<void> {
    if (this.#waiting > 0 || !this.#hasRoom(bytes)) await this.#wait(bytes)
    else this.#bytes += bytes
    try {
      if (!this.#isClosed()) await answer()
    } finally {
      this.#bytes -= bytes
    }
  }

  async #wait(bytes: number): Promise<void> {
    if (this.#waiting >= waitingMax)
      throw new CairnError('too_large', {
        what: `take more than ${waitingMax} requests at once`,
        reason: 'read the answers first',
      })
    this.#waiting++
    const turn = this.#queue.then(() => this.#whenRoom(bytes))
    this.#queue = turn.catch(() => undefined)
    await turn.finally(() => this.#waiting--)
  }

  async #whenRoom(bytes: number): Promise<void> {
    while (!this.#hasRoom(bytes) && !this.#isClosed()) await this.#clock.sleep(lookMs)
    // Before the next in the queue looks.
    this.#bytes += bytes
  }

  /** One that is larger than all of the room has it for itself. */
  #hasRoom(bytes: number): boolean {
    const held = this.#bytes + this.#connection.bufferedBytes
    return held === 0 || held + bytes <= bytesMax
  }
}
