import type { RetryClock } from './clock.ts'
import { CairnError } from './error.ts'

export interface RequestOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * How long the call may take, all attempts together. Where a call gives an iterable or a stream: how long each
   * of its requests may wait for the answer to begin.
   */
  readonly timeoutMs?: number | undefined
}

/** The signal of one call: the caller's, and the deadline. `close` it when the call is over. */
export interface Deadline {
  readonly signal: AbortSignal
  close(): void
}

/** Only ends a timer. Without a reason, an error with a stack would be made for each request. */
const over = 'over'

export function openDeadline(
  what: string,
  { signal, timeoutMs }: RequestOptions,
  clock: RetryClock,
): Deadline {
  if (timeoutMs === undefined)
    return { signal: signal ?? new AbortController().signal, close: () => undefined }
  const closing = new AbortController()
  const close = (): void => closing.abort(over)
  const late = new AbortController()
  void clock.sleep(timeoutMs, closing.signal).then(() => {
    if (!closing.signal.aborted) late.abort(timedOut(what, timeoutMs))
  })
  return { signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal, close }
}

/** The promise's outcome, unless it takes longer: then rejects with what `onSilence` gives. */
export async function withPatience<T>(
  promise: Promise<T>,
  patienceMs: number,
  clock: RetryClock,
  onSilence: () => Error,
): Promise<T> {
  const ending = new AbortController()
  const silence = clock.sleep(patienceMs, ending.signal).then(() => {
    if (!ending.signal.aborted) throw onSilence()
    return promise
  })
  try {
    return await Promise.race([promise, silence])
  } finally {
    ending.abort(over)
  }
}

export function timedOut(what: string, ms: number): CairnError {
  return new CairnError('timed_out', { what, reason: `no answer within ${ms} ms` })
}
