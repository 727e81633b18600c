/** Time and chance, so that tests of waiting need not wait. */
export interface RetryClock {
  /** Resolves after that time, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** From 0 up to, not including, 1. */
  random(): number
}

export const systemClock: RetryClock = {
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal.addEventListener('abort', end)
    })
  },
  random: Math.random,
}
