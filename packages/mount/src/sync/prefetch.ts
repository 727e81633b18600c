import type { Ino } from '@cairn/protocol'
import type { Contents } from '../data/contents.ts'
import type { Loader } from '../image/loader.ts'

export interface PrefetchParts {
  readonly loader: Pick<Loader, 'whenAtRest' | 'loadAhead'>
  readonly contents: Pick<Contents, 'whenAtRest'>
  readonly nowMs: () => number
  /** How many bytes to take at most. */
  readonly bytesMax: number
}

const answerBytesMin = 32 << 10
const answerBytesMax = 1 << 20
/** A program that asks for something waits at most about as long for an answer that is on its way. */
const answerMs = 50

/**
 * Fetches what earlier mounts of the directory read first. One answer at a time, and only while no
 * program waits for the server: over a slow link answers are small.
 */
export async function prefetch(root: Ino, parts: PrefetchParts): Promise<void> {
  const { loader, contents, nowMs, bytesMax } = parts
  let bytes = 4 * answerBytesMin
  for (let [from, taken] = [0, 0]; taken < bytesMax;) {
    await loader.whenAtRest()
    await contents.whenAtRest()
    const beganMs = nowMs()
    const { next, size } = await loader.loadAhead(root, from, bytes)
    if (next <= from) return
    from = next
    taken += size
    const isFast = nowMs() - beganMs < answerMs
    bytes = isFast ? Math.min(answerBytesMax, 2 * bytes) : Math.max(answerBytesMin, bytes / 2)
  }
}
