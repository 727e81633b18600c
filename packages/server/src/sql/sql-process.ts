import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { CairnError } from '@cairn/protocol'
import { contentPipe, noContent, type SqlReply, type SqlRequest } from './sql-messages.ts'

// The compiler renames imports, not URLs.
const mainUrl = import.meta.url.endsWith('.ts')
  ? new URL('./sql-process-main.ts', import.meta.url)
  : new URL('./sql-process-main.js', import.meta.url)

/** Above what Node itself takes. */
const memoryBytesMax = 512 << 20
const memoryCheckMs = 100
/** Between two looks it may ask for much more. What V8 only reserves does not count. */
const dataBytesMax = 1536 << 20
const pageBytes = 4096
/** The kernel ends a process that computed for so long: one whose server died has no other end. */
const cpuSecondsMax = 120
/** One that computed for so long is not used again. */
const cpuMsMax = 20_000
const idleMs = 30_000

/** What a statement reads of files while it runs. */
export interface StatementContents {
  /** For `files.text`; undefined where the file has no text for the caller. */
  text(ino: number): Promise<Uint8Array | undefined>
  /** A part of a file that is a table: `dataPartBytes` from there on. */
  data(file: number, offset: number): Uint8Array
}

/** Runs statements for one caller at a time. */
class SqlProcess {
  readonly #child: ChildProcess
  #waiting: ((reply: SqlReply | CairnError) => void) | undefined
  #idle: NodeJS.Timeout | undefined
  /** Undefined between two callers. */
  contents: StatementContents | undefined
  isOver = false

  constructor() {
    const limits = `ulimit -t ${cpuSecondsMax}; ulimit -d ${dataBytesMax >> 10}`
    const limited = `{ ${limits}; } 2>/dev/null; exec "$0" "$@"`
    const args = [...process.execArgv, fileURLToPath(mainUrl)]
    this.#child = spawn('/bin/sh', ['-c', limited, process.execPath, ...args], {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'ipc'],
      serialization: 'advanced',
      env: { PATH: process.env['PATH'], NODE_NO_WARNINGS: '1' },
    })
    this.#child.on('message', (reply: SqlReply) => this.#settle(reply))
    this.#child.on('error', (cause) => this.#end('its process could not be started', cause))
    this.#child.once('exit', () => this.#end('its process ended'))
    this.#serveContent(this.#child.stdio[contentPipe] as Duplex)
  }

  /** Rejects with `too_slow` when the time or the memory is used up; the process has ended then. */
  ask(request: SqlRequest, timeMs: number): Promise<SqlReply> {
    clearTimeout(this.#idle)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end(`it took longer than ${timeMs / 1000} s`), timeMs)
      const watch = setInterval(() => this.#watchMemory(), memoryCheckMs)
      this.#waiting = (reply) => {
        clearTimeout(timer)
        clearInterval(watch)
        if (reply instanceof CairnError) reject(reply)
        else resolve(reply)
      }
      if (this.isOver) return this.#settle(tooSlow('its process ended'))
      this.#child.send(request, (error) => error && this.#end('its process ended', error))
    })
  }

  /** Ready for another caller. */
  rest(): void {
    this.contents = undefined
    this.#idle = setTimeout(() => this.kill(), idleMs).unref()
  }

  kill(): void {
    this.#end('it was stopped')
  }

  #settle(reply: SqlReply | CairnError): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.(reply)
    const isWorn = 'cpuMs' in reply && reply.cpuMs > cpuMsMax
    if (isWorn) this.kill()
  }

  #end(reason: string, cause?: unknown): void {
    if (!this.isOver) this.#child.kill('SIGKILL')
    this.isOver = true
    clearTimeout(this.#idle)
    this.#settle(tooSlow(reason, cause))
  }

  #watchMemory(): void {
    const bytes = residentBytes(this.#child.pid)
    if (bytes > memoryBytesMax)
      this.#end(`it needs more than ${memoryBytesMax >> 20} MiB of memory`)
  }

  #serveContent(pipe: Duplex): void {
    // The process waits for each answer before it asks again.
    pipe.on('data', (line: Buffer) => void this.#giveContent(pipe, line.toString()))
    pipe.on('error', () => this.#end('its process ended'))
  }

  async #giveContent(pipe: Duplex, line: string): Promise<void> {
    const [number, offset] = line.split(' ').map(Number)
    try {
      const { contents } = this
      const bytes =
        offset === undefined ? await contents?.text(number!) : contents?.data(number!, offset)
      const head = Buffer.alloc(4)
      head.writeUInt32LE(bytes ? bytes.length : noContent)
      pipe.write(bytes ? Buffer.concat([head, bytes]) : head)
    } catch (error) {
      this.#end('a file that it reads could not be read', error)
    }
  }
}

function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes
  } catch {
    // It has ended, or this is no Linux.
    return 0
  }
}

function tooSlow(reason: string, cause?: unknown): CairnError {
  return new CairnError('too_slow', {
    what: 'run the SQL',
    reason,
    hint: 'Narrow it down: fewer rows, a condition on path, no cross join.',
    cause,
  })
}

/** Processes that wait for a statement. Routes limit how many are at work. */
export class SqlProcesses {
  readonly #idle: SqlProcess[] = []

  async run<T>(contents: StatementContents, work: (process: SqlProcess) => Promise<T>): Promise<T> {
    const process = this.#take()
    process.contents = contents
    try {
      return await work(process)
    } catch (error) {
      process.kill()
      throw error
    } finally {
      if (!process.isOver) {
        process.rest()
        this.#idle.push(process)
      }
    }
  }

  close(): void {
    for (const process of this.#idle.splice(0)) process.kill()
  }

  #take(): SqlProcess {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (!idle.isOver) return idle
    return new SqlProcess()
  }
}
