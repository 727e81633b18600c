import type { RetryClock } from './clock.ts'
import { isCairnError } from './error.ts'

export const attemptsMax = 5
const firstPauseMs = 200
const pauseMsMax = 10_000

const passingStatuses: readonly number[] = [429, 502, 503, 504]

/** Whether the same request may succeed later. Every request this is asked for is safe to send again. */
export function isPassing(error: unknown): boolean {
  if (!isCairnError(error)) return false
  return error.retry === 'same-request' || passingStatuses.includes(error.status ?? 0)
}

/**
 * Doubles each time, and is shortened by up to half at random, so that many clients who lost the same server do
 * not come back in the same moment.
 */
export function pauseMs(failures: number, clock: RetryClock, error?: unknown): number {
  const asked = isCairnError(error) ? error.retryAfterMs : undefined
  if (asked !== undefined) return Math.min(asked, pauseMsMax)
  const full = Math.min(firstPauseMs * 2 ** (failures - 1), pauseMsMax)
  return full * (1 - clock.random() / 2)
}

/** Repeats `attempt` while its failures are passing ones. Rejects with the last of them, or the signal's reason. */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { clock, signal }: { readonly clock: RetryClock; readonly signal: AbortSignal },
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (failures >= attemptsMax || !isPassing(error)) throw error
      await clock.sleep(pauseMs(failures, clock, error), signal)
      signal.throwIfAborted()
    }
  }
}
