import type { Cli } from '../cli.ts'
import { formatBytes } from '../output/format.ts'
import { countOperations } from './describe.ts'

export interface PendingWork {
  readonly pendingOps: number
  readonly pendingBytes: number
}

const quietMs = 10_000

/** Says what is being waited for: on a terminal in one line that is rewritten, elsewhere a line now and then. */
export class WaitingLine {
  readonly #cli: Pick<Cli, 'err' | 'isJson'>
  #last: PendingWork | undefined
  #saidAt = -Infinity
  #isDrawn = false

  constructor(cli: Pick<Cli, 'err' | 'isJson'>) {
    this.#cli = cli
  }

  get last(): PendingWork | undefined {
    return this.#last
  }

  async show(waiting: PendingWork): Promise<void> {
    this.#last = waiting
    // An unmount takes a moment also where nothing is on its way.
    if (waiting.pendingOps > 0)
      await this.say(`waiting for ${describeWaiting(waiting)} to reach the server`)
  }

  async say(text: string): Promise<void> {
    const { err, isJson } = this.#cli
    if (isJson) return
    if (err.isTerminal) {
      this.#isDrawn = true
      return err.raw(`\r${text.slice(0, err.columns - 1)}\x1b[K`)
    }
    if (performance.now() - this.#saidAt < quietMs) return
    this.#saidAt = performance.now()
    await err.line(text)
  }

  async clear(): Promise<void> {
    if (this.#isDrawn) await this.#cli.err.raw('\r\x1b[K')
    this.#isDrawn = false
  }
}

export function describeWaiting({ pendingOps, pendingBytes }: PendingWork): string {
  return `${countOperations(pendingOps)} (${formatBytes(pendingBytes)})`
}
