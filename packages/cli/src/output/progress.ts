import type { Cli } from '../cli.ts'
import { formatBytes, formatDuration } from './format.ts'

export interface ProgressState {
  readonly doneBytes: number
  /** Undefined as long as it is not known how much there is. */
  readonly totalBytes: number | undefined
  readonly doneFiles: number
  readonly seconds: number
}

/** ` 42% [=====>       ]  12M of 29M  3.1M/s  0:05 left`, as wide as there is room. */
export function renderProgress(state: ProgressState, columns: number): string {
  const { doneBytes, totalBytes, doneFiles, seconds } = state
  const rate = seconds > 0 ? doneBytes / seconds : 0
  const speed = `${formatBytes(rate)}/s`
  if (totalBytes === undefined)
    return `${doneFiles} files  ${formatBytes(doneBytes)}  ${speed}`.slice(0, columns)
  const share = totalBytes === 0 ? 1 : Math.min(1, doneBytes / totalBytes)
  const left = rate > 0 ? formatDuration((totalBytes - doneBytes) / rate) : '-:--'
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  const figures = `${formatBytes(doneBytes)} of ${formatBytes(totalBytes)}  ${speed}  ${left} left`
  const room = columns - percent.length - figures.length - 5
  if (room < 8) return `${percent}  ${figures}`.slice(0, columns)
  const width = Math.min(40, room)
  const filled = Math.floor(share * width)
  const arrow = filled < width ? '>' : ''
  const bar = '='.repeat(filled) + arrow
  return `${percent} [${bar.padEnd(width)}]  ${figures}`
}

const redrawMs = 100
/** What is done sooner needs no bar. */
const patienceMs = 500

/** A line on the terminal that tells how far it is. Where there is no terminal, nothing is said. */
export class ProgressBar {
  readonly #cli: Pick<Cli, 'err' | 'isJson'>
  readonly #isShown: boolean
  readonly #now: () => number
  readonly #start: number
  #doneBytes = 0
  #doneFiles = 0
  #totalBytes = 0
  #isTotalKnown = false
  #lastDrawn = 0
  #isDrawn = false
  #drawing: Promise<void> = Promise.resolve()

  /** `now` counts milliseconds. */
  constructor(cli: Pick<Cli, 'err' | 'isJson'>, now: () => number = () => performance.now()) {
    this.#cli = cli
    this.#now = now
    this.#start = now()
    this.#isShown = cli.err.isTerminal && !cli.isJson
    this.#lastDrawn = this.#start + patienceMs - redrawMs
  }

  expect(bytes: number): void {
    this.#totalBytes += bytes
  }

  expectNoMore(): void {
    this.#isTotalKnown = true
  }

  add(bytes: number): void {
    this.#doneBytes += bytes
    this.#draw()
  }

  addFile(): void {
    this.#doneFiles++
    this.#draw()
  }

  /** Takes the line away, so that something else can be printed. */
  async clear(): Promise<void> {
    await this.#drawing
    if (this.#isDrawn) await this.#cli.err.raw('\r\x1b[K')
    this.#isDrawn = false
  }

  #draw(): void {
    const now = this.#now()
    if (!this.#isShown || now - this.#lastDrawn < redrawMs) return
    this.#lastDrawn = now
    this.#isDrawn = true
    const state = {
      doneBytes: this.#doneBytes,
      doneFiles: this.#doneFiles,
      totalBytes: this.#isTotalKnown ? this.#totalBytes : undefined,
      seconds: (now - this.#start) / 1000,
    }
    const line = renderProgress(state, this.#cli.err.columns - 1)
    this.#drawing = this.#drawing.then(() => this.#cli.err.raw(`\r${line}\x1b[K`))
  }
}
