import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'
import { type Colour, paint, takesColour } from './colour.ts'
import { absoluteTime, relativeTime } from './relative-time.ts'
import { formatTable } from './table.ts'

export interface OutputStream extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Collects this much before it writes, unless the output is a terminal. */
const bufferChars = 16_384

interface OutputOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Writes each line at once, so that the log of a server has what it said so far. */
  readonly isUnbuffered?: boolean
}

/** Where text and bytes go. Every write is waited for, so a slow reader slows the command down, not its memory up. */
export class Output {
  readonly #stream: OutputStream
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #isUnbuffered: boolean
  #pager: ChildProcess | undefined
  #pending = ''

  constructor(stream: OutputStream, { env = {}, isUnbuffered = false }: OutputOptions = {}) {
    this.#stream = stream
    this.#env = env
    this.#isUnbuffered = isUnbuffered
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true
  }

  get columns(): number {
    return this.#stream.columns ?? 80
  }

  /** The text in a colour, where colours are shown. */
  paint(text: string, colour: Colour): string {
    return this.hasColour ? paint(text, colour) : text
  }

  get hasColour(): boolean {
    return takesColour(this.isTerminal, this.#env)
  }

  /** When something was or will be: for people how long that is, for programs the time. */
  when(time: string): string {
    return this.isTerminal ? relativeTime(time) : absoluteTime(time)
  }

  /** On a terminal it fits its width, and a heading in capitals stands out. */
  async table(rows: readonly (readonly string[])[], right: readonly number[] = []): Promise<void> {
    const lines = formatTable(rows, right, this.isTerminal ? this.columns : Infinity)
    const hasHeading = rows[0]?.every((cell) => cell === cell.toUpperCase()) ?? false
    for (const [index, line] of lines.entries()) {
      const text = line.trimEnd()
      await this.line(index === 0 && hasHeading ? this.paint(text, 'bold') : text)
    }
  }

  async line(text: string): Promise<void> {
    this.#pending += `${text}\n`
    const isWatched = this.isTerminal && !this.#pager
    if (this.#isUnbuffered || isWatched || this.#pending.length >= bufferChars) await this.flush()
  }

  /** One line of JSON. */
  json(value: unknown): Promise<void> {
    return this.line(JSON.stringify(value))
  }

  /** Text as it is, at once: for progress, which rewrites its own line. */
  async raw(text: string): Promise<void> {
    await this.flush()
    await this.#write(text)
  }

  async bytes(bytes: Uint8Array): Promise<void> {
    await this.flush()
    await this.#write(bytes)
  }

  async flush(): Promise<void> {
    if (this.#pending === '') return
    const text = this.#pending
    this.#pending = ''
    await this.#write(text)
  }

  /** Loaded only here: most commands never page. */
  async page(): Promise<void> {
    if (!this.isTerminal || this.#pager) return
    const { pagerCommand, spawnPager } = await import('./pager.ts')
    const command = pagerCommand(this.#env)
    if (command === undefined) return
    this.#pager = spawnPager(command, this.#env)
    // A write that fails rejects where it is waited for.
    this.#pager.stdin!.on('error', () => {})
    this.#pager.on('error', () => {})
  }

  /** Writes what is left. With a pager, resolves when its user has left it. */
  async end(): Promise<void> {
    const pager = this.#pager
    if (!pager) return this.flush()
    const ended = new Promise((resolve) => pager.once('close', resolve))
    try {
      await this.flush()
    } finally {
      pager.stdin!.end()
      if (pager.exitCode === null && pager.signalCode === null) await ended
      this.#pager = undefined
    }
  }

  #write(chunk: string | Uint8Array): Promise<void> {
    const stream = this.#pager?.stdin ?? this.#stream
    return new Promise((resolve, reject) => {
      stream.write(chunk, (error) => (error ? reject(error) : resolve()))
    })
  }
}
