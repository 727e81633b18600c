import { errorTable, isCairnError } from '@cairn/protocol'

const retryMs = 500

/** Tries for as long as trying may help: what was acknowledged has to arrive. */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  sleep: (ms: number) => Promise<void>,
): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!isCairnError(error) || errorTable[error.code].retry === 'never') throw error
      await sleep(retryMs)
    }
  }
}
