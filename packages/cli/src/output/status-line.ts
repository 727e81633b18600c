import type { Cli } from '../cli.ts'

const redrawMs = 100

/** One line on the terminal that says what is under way. Where there is no terminal, nothing is said. */
export class StatusLine {
  readonly #cli: Pick<Cli, 'err' | 'isJson'>
  #lastDrawn = -Infinity
  #drawing: Promise<void> = Promise.resolve()

  constructor(cli: Pick<Cli, 'err' | 'isJson'>) {
    this.#cli = cli
  }

  show(text: string): void {
    const now = performance.now()
    if (!this.#isShown || now - this.#lastDrawn < redrawMs) return
    this.#lastDrawn = now
    const line = text.slice(0, this.#cli.err.columns - 1)
    this.#drawing = this.#drawing.then(() => this.#cli.err.raw(`\r${line}\x1b[K`))
  }

  /** Takes the line away, so that something else can be printed. */
  async clear(): Promise<void> {
    await this.#drawing
    if (this.#lastDrawn > 0) await this.#cli.err.raw('\r\x1b[K')
    this.#lastDrawn = -Infinity
  }

  get #isShown(): boolean {
    return this.#cli.err.isTerminal && !this.#cli.isJson
  }
}
