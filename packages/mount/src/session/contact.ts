import type { Connect } from './wire.ts'

/** Thrown by what must not be answered before the server has heard of this session again. Wait and ask again. */
export class OutOfContact extends Error {
  readonly isOver: Promise<void>

  constructor(isOver: Promise<void>) {
    super('the lease may be over')
    this.isOver = isOver
  }
}

/**
 * Knows for how long the server may have heard nothing from this session. After a lease time without contact another
 * session may have the lease. Ordinary writes go on then, because a rescue layer can keep both versions. A name that
 * only one client may make is another matter: two programs that both believe they made it both go on.
 */
export class Contact {
  #leaseMs = Infinity
  /** When the newest message that is known to have arrived was sent. */
  #arrivedMs = 0
  readonly #waiting = new Set<() => void>()

  get isLost(): boolean {
    return performance.now() - this.#arrivedMs >= this.#leaseMs
  }

  /** Throws OutOfContact. */
  require(): void {
    if (this.isLost) throw new OutOfContact(new Promise((wake) => this.#waiting.add(wake)))
  }

  through(connect: Connect): Connect {
    return async (events) => {
      const beganMs = performance.now()
      const wire = await connect({
        onReply: (reply) => {
          events.onReply(reply)
          if (reply.type !== 'welcome') return
          this.#leaseMs = reply.leaseMs
          this.#noteArrived(beganMs)
        },
        onClose: () => events.onClose(),
      })
      return {
        ...wire,
        send: (request) => {
          wire.send(request)
          if (request.type !== 'renew') return
          const sentMs = performance.now()
          void wire.ping().then(() => this.#noteArrived(sentMs))
        },
      }
    }
  }

  #noteArrived(sentMs: number): void {
    this.#arrivedMs = Math.max(this.#arrivedMs, sentMs)
    if (this.isLost) return
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
