import { writeSync } from 'node:fs'
import { isCairnError } from '@cairn/protocol'

/** Tells the test, at once: a line that waits in a buffer would die with the process. */
export function acknowledge(what: string | number): void {
  writeSync(1, `${what}\n`)
}

/** Says the number once it has happened, or the code of the error beside it. */
export async function acknowledgeOutcome(number: number, work: Promise<void>): Promise<void> {
  try {
    await work
    acknowledge(number)
  } catch (error) {
    if (!isCairnError(error)) throw error
    acknowledge(`${number} ${error.code}`)
  }
}
