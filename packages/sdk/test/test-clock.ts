import type { RetryClock } from '../src/client/clock.ts'

/** Pauses between attempts end at once and are written down; guards against silence end when `expire` is called. */
export class TestClock implements RetryClock {
  readonly pauses: number[] = []
  #guards: (() => void)[] = []

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 10_000) {
      this.pauses.push(ms)
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#guards.push(resolve)
      signal.addEventListener('abort', () => resolve())
    })
  }

  random(): number {
    return 0
  }

  /** As if the guards' time had passed, those included that the code is just about to set. */
  async expire(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    for (const end of this.#guards.splice(0)) end()
  }
}
