import type { Steps } from '@cairn/core'
import { CairnError } from '@cairn/protocol'

/** Throws once the client has gone. */
export function requirePresent(gone: AbortSignal | undefined): void {
  if (gone?.aborted !== true) return
  throw new CairnError('too_slow', {
    what: 'finish the request',
    reason: 'its connection was closed before the answer',
  })
}

/** Stops between two steps once the client has gone. */
export function* whilePresent<T>(gone: AbortSignal | undefined, steps: Steps<T>): Steps<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    yield
    requirePresent(gone)
  }
}
