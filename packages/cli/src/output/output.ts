import type { Writable } from 'node:stream'

export interface OutputStream extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Collects this much before it writes, unless the output is a terminal. */
const bufferChars = 16_384

/** Where text and bytes go. Every write is waited for, so a slow reader slows the command down, not its memory up. */
export class Output {
  readonly #stream: OutputStream
  #pending = ''

  constructor(stream: OutputStream) {
    this.#stream = stream
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true
  }

  get columns(): number {
    return this.#stream.columns ?? 80
  }

  async line(text: string): Promise<void> {
    this.#pending += `${text}\n`
    if (this.isTerminal || this.#pending.length >= bufferChars) await this.flush()
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

  #write(chunk: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(chunk, (error) => (error ? reject(error) : resolve()))
    })
  }
}
