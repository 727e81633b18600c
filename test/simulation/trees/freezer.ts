import type { Connect, Wire } from '@cairn/mount'
import type { Scheduler } from '../scheduler.ts'

/** A process that may stand still for a while: then nothing that it waits for happens to it before it runs again. */
export class Freezer {
  readonly #scheduler: Scheduler
  readonly #held: (() => void)[] = []
  #frozenAtMs: number | undefined
  #leaseMs = Infinity
  #wire: Wire | undefined
  /** It stood still for a lease time, and was not welcome since. */
  isInDoubt = false

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  get isFrozen(): boolean {
    return this.#frozenAtMs !== undefined
  }

  freeze(): void {
    this.#frozenAtMs ??= this.#scheduler.nowMs
  }

  /** As a mount does: a lease that may be over counts for nothing until a server says which epoch it is. */
  thaw(): void {
    if (this.#frozenAtMs === undefined) return
    const asleepMs = this.#scheduler.nowMs - this.#frozenAtMs
    this.#frozenAtMs = undefined
    this.isInDoubt ||= asleepMs >= this.#leaseMs
    if (this.isInDoubt) this.#wire?.close()
    for (const run of this.#held.splice(0)) run()
  }

  /** At once, or when it runs again. */
  run(what: () => void): void {
    if (this.isFrozen) this.#held.push(what)
    else what()
  }

  after(ms: number, run: () => void): void {
    this.#scheduler.after(ms, () => this.run(run))
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  through(connect: Connect): Connect {
    return async (events) => {
      const wire = await connect({
        onReply: (reply) =>
          this.run(() => {
            if (reply.type === 'welcome') [this.isInDoubt, this.#leaseMs] = [false, reply.leaseMs]
            events.onReply(reply)
          }),
        onClose: () => this.run(() => events.onClose()),
      })
      this.#wire = wire
      return wire
    }
  }
}
