import type { Connect } from './wire.ts'

/**
 * Notices that this process did not run for a whole lease time: it was stopped, or the machine slept. It sent no
 * renewal meanwhile, so its lease may be over, and another client may have made the very file that a program asks for
 * now. Nothing is acknowledged then before a server has said what became of the lease. A process that runs and is cut
 * off from the network is another matter: it goes on, and what comes too late is rescued.
 */
export class FreezeWatch {
  #leaseMs = Infinity
  #awake = readClocks()
  #isInDoubt = false
  #timer: NodeJS.Timeout | undefined

  /** Whether the lease may be over without a word of it here. */
  get isInDoubt(): boolean {
    return this.#isInDoubt || this.#asleepMs >= this.#leaseMs
  }

  /** A connection that was open when this process froze is left: each welcome says which epoch it is. */
  through(connect: Connect): Connect {
    return async (events) => {
      const wire = await connect({
        onReply: (reply) => {
          if (reply.type === 'welcome') this.#confirm(reply.leaseMs, () => wire.close())
          events.onReply(reply)
        },
        onClose: () => events.onClose(),
      })
      return {
        ...wire,
        close: () => {
          clearInterval(this.#timer)
          wire.close()
        },
      }
    }
  }

  #confirm(leaseMs: number, leave: () => void): void {
    this.#leaseMs = leaseMs
    this.#awake = readClocks()
    this.#isInDoubt = false
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#look(leave), leaseMs / 3).unref()
  }

  #look(leave: () => void): void {
    if (!this.isInDoubt) this.#awake = readClocks()
    else if (!this.#isInDoubt) {
      this.#isInDoubt = true
      leave()
    }
  }

  /** The one clock stands still while a machine sleeps, the other one may be set back. */
  get #asleepMs(): number {
    const { monotonic, wall } = readClocks()
    return Math.max(monotonic - this.#awake.monotonic, wall - this.#awake.wall)
  }
}

function readClocks(): { readonly monotonic: number; readonly wall: number } {
  return { monotonic: performance.now(), wall: Date.now() }
}
