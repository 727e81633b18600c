import { type CairnError, errorTable, isCairnError } from '@cairn/protocol'

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
      if (!isCairnError(error) || isLastWord(error)) throw error
      await sleep(retryMs)
    }
  }
}

/** What a server did not foresee it may do right the next time. */
function isLastWord({ code }: CairnError): boolean {
  return errorTable[code].retry === 'never' && code !== 'internal'
}
