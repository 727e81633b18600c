import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../../src/testing/servers/server-process.ts'

export const whyNoStrace: string | undefined =
  findProgram('strace') === undefined ? 'skipped: no strace, install it' : undefined

export type ProgramName =
  | 'append-batches'
  | 'compact-packs'
  | 'hold-storage'
  | 'migrate-database'
  | 'put-objects'
  | 'put-packs'

const programs: Readonly<Record<ProgramName, URL>> = {
  'append-batches': new URL('./append-batches.ts', import.meta.url),
  'compact-packs': new URL('./compact-packs.ts', import.meta.url),
  'hold-storage': new URL('./hold-storage.ts', import.meta.url),
  'migrate-database': new URL('./migrate-database.ts', import.meta.url),
  'put-objects': new URL('./put-objects.ts', import.meta.url),
  'put-packs': new URL('./put-packs.ts', import.meta.url),
}

export interface ChildOptions {
  /**
   * Options of strace, to make system calls fail or kill the process. Counted per thread, so there
   * is one in the pool.
   */
  readonly strace?: readonly string[]
}

/** One of the programs beside this file, in a process of its own that a test may kill. */
export class ChildProgram {
  /** What it has printed: its acknowledgements. */
  readonly lines: string[] = []
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(name: ProgramName, args: readonly string[], { strace }: ChildOptions = {}) {
    const node = [process.execPath, '--conditions=source', fileURLToPath(programs[name]), ...args]
    const [command = '', ...rest] = strace ? ['strace', '-f', '-qq', ...strace, ...node] : node
    this.#child = spawn(command, rest, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    })
    const reader = createInterface(this.#child.stdout!)
    reader.on('line', (line) => this.lines.push(line))
    // Both: what was printed just before the end must not be missed.
    this.#ended = Promise.all([once(this.#child, 'exit'), once(reader, 'close')])
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Waits for its end. Gives its exit code, undefined when a signal ended it. */
  async end(): Promise<number | undefined> {
    await this.#ended
    return this.#child.exitCode ?? undefined
  }

  /** What the programs take as "go on". */
  endInput(): void {
    this.#child.stdin!.end()
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.end()
  }
}
