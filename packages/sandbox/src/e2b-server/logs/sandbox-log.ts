import { appendFile, readFile, rename, stat } from 'node:fs/promises'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface SandboxLogEntry {
  readonly timestamp: string
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, string>>
}

/** Half of what is kept of a sandbox: the older half is dropped when the newer one is full. */
const halfBytes = 512 << 10
/** How much may wait for the disk before the program that prints has to wait, too. */
const waitingBytesMax = 1 << 20

/** What happened in one sandbox, in two files. It can be read after the sandbox has ended. */
export class SandboxLog {
  readonly #path: string
  #waiting: string[] = []
  #waitingBytes = 0
  #writing: Promise<void> | undefined
  #lastMs = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Resolves when more can be added. */
  async add(
    message: string,
    fields: Readonly<Record<string, string>>,
    level: LogLevel = 'info',
  ): Promise<void> {
    // Each entry has a time of its own, so a reader can go on after the last one that it knows.
    this.#lastMs = Math.max(Date.now(), this.#lastMs + 1)
    const timestamp = new Date(this.#lastMs).toISOString()
    const line = `${JSON.stringify({ timestamp, level, message, fields })}\n`
    this.#waiting.push(line)
    this.#waitingBytes += line.length
    // A full disk must not stop a sandbox.
    this.#writing ??= this.#write().catch(() => undefined)
    if (this.#waitingBytes > waitingBytesMax) await this.#writing
  }

  /** Oldest first. */
  async read(): Promise<SandboxLogEntry[]> {
    await this.#writing
    const texts = await Promise.all([readIfThere(this.#older), readIfThere(this.#path)])
    const lines = texts.join('').split('\n')
    return lines.flatMap((line) => parse(line) ?? [])
  }

  get #older(): string {
    return `${this.#path}.old`
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const text = this.#waiting.join('')
        this.#waiting = []
        this.#waitingBytes = 0
        if ((await sizeOf(this.#path)) > halfBytes) await rename(this.#path, this.#older)
        await appendFile(this.#path, text, { mode: 0o600 })
      }
    } finally {
      this.#writing = undefined
    }
  }
}

/** A line that a crash cut off is none. */
function parse(line: string): SandboxLogEntry | undefined {
  try {
    return JSON.parse(line) as SandboxLogEntry
  } catch {
    return undefined
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

function readIfThere(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
