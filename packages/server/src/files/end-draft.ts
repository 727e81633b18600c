import type { DraftBlobs } from '@cairn/core'
import { httpStatusOf, isCairnError, isFsError } from '@cairn/protocol'

/**
 * Receives into a draft and writes what arrived. The draft is dropped where it is certain that the log does not point at
 * it; otherwise it is kept. A server that dies in between leaves it to the collector, which spares what is needed.
 */
export async function endDraft<Received, T>(
  draft: DraftBlobs,
  receive: () => Promise<Received>,
  write: (received: Received) => Promise<T>,
): Promise<T> {
  let received: Received | undefined
  try {
    received = await receive()
    const result = await write(received)
    await end(draft, 'keep')
    return result
  } catch (error) {
    await end(draft, received === undefined || isRefusal(error) ? 'drop' : 'keep')
    throw error
  }
}

/** Whatever comes of it, the answer to the caller stands: a collector does later what could not be done now. */
async function end(draft: DraftBlobs, how: 'keep' | 'drop'): Promise<void> {
  await draft[how]().catch(() => {})
}

/** The log has certainly not taken it. After a failure of the server or of a store it may have. */
function isRefusal(error: unknown): boolean {
  if (isFsError(error) || isCairnError(error, 'storage_full')) return true
  if (!isCairnError(error)) return false
  return httpStatusOf(error.code) < 500 && error.retry !== 'same-request'
}
