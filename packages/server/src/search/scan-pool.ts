import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { CairnError } from '@cairn/protocol'
import { columnsOf } from './piece-columns.ts'
import type { Engine } from './pattern/pattern.ts'
import type { Needs } from './pattern/needs.ts'
import type { FilePart, ScanReply, ScanRequest, Scanned, SearchSpec } from './scan-messages.ts'

// The compiler renames imports, not URLs.
const workerUrl = import.meta.url.endsWith('.ts')
  ? new URL('./scan-worker.ts', import.meta.url)
  : new URL('./scan-worker.js', import.meta.url)

/** They have a lower priority than the event loop, so each core may have one. */
const workersMax = Math.min(4, availableParallelism())
/** A thread looks at its deadline often; one that is so late is stuck, and is ended. */
const stuckMs = 10_000
const openMs = 5000

type OpenedReply = Extract<ScanReply, { type: 'opened' }>

interface Waiting {
  readonly resolve: (reply: ScanReply) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** A search in the threads. The pieces of one file go to one of them, in the order in which they are sent. */
export interface OpenSearch {
  readonly engine: Engine
  readonly needs: Needs
  scan(pieces: readonly FilePart[], limits: ScanLimits): Promise<Scanned>
  close(): void
}

export interface ScanLimits {
  readonly linesMax: number
  readonly textMax: number
  readonly timeMs: number
}

/** The threads that search. They are started when they are needed, and do not keep the process alive. */
class ScanPool {
  readonly #threads: ScanThread[] = []
  #nextSearch = 0

  /** Throws `malformed` for a pattern that cannot be read. */
  async open(spec: SearchSpec): Promise<OpenSearch> {
    const search = new PooledSearch(++this.#nextSearch, spec, () => this.#pick())
    await search.begin()
    return search
  }

  /** The one with the fewest batches, or a new one where each has some. */
  #pick(): ScanThread {
    for (let at = this.#threads.length - 1; at >= 0; at--)
      if (this.#threads[at]!.isDead) this.#threads.splice(at, 1)
    const idle = this.#threads.find(({ waiting }) => waiting === 0)
    if (idle) return idle
    if (this.#threads.length < workersMax) {
      const thread = new ScanThread()
      this.#threads.push(thread)
      return thread
    }
    return this.#threads.toSorted((a, b) => a.waiting - b.waiting)[0]!
  }
}

class PooledSearch implements OpenSearch {
  readonly #id: number
  readonly #spec: SearchSpec
  readonly #pick: () => ScanThread
  readonly #opened = new Map<ScanThread, Promise<OpenedReply>>()
  #thread: ScanThread | undefined
  #jobs = 0
  #isInFile = false
  engine: Engine = 'dfa'
  needs: Needs = []

  constructor(id: number, spec: SearchSpec, pick: () => ScanThread) {
    this.#id = id
    this.#spec = spec
    this.#pick = pick
  }

  async begin(): Promise<void> {
    const { engine, needs } = await this.#open(this.#pick())
    this.engine = engine
    this.needs = needs
  }

  async scan(pieces: readonly FilePart[], limits: ScanLimits): Promise<Scanned> {
    const thread = this.#isInFile ? this.#thread! : this.#pick()
    this.#thread = thread
    this.#isInFile = !pieces.at(-1)!.isLast
    const [search, job] = [this.#id, ++this.#jobs]
    const request = { type: 'scan', search, job, pieces: columnsOf(pieces), ...limits } as const
    // The thread reads its messages in order.
    const opened = this.#open(thread)
    const scanned = thread.ask(request, `${search}.${job}`, limits.timeMs + stuckMs)
    await Promise.all([opened, scanned])
    return (await scanned) as Scanned & ScanReply
  }

  close(): void {
    for (const thread of this.#opened.keys()) thread.tell({ type: 'close', search: this.#id })
  }

  #open(thread: ScanThread): Promise<OpenedReply> {
    const known = this.#opened.get(thread)
    if (known) return known
    const opened = this.#ask(thread)
    this.#opened.set(thread, opened)
    return opened
  }

  async #ask(thread: ScanThread): Promise<OpenedReply> {
    const search = this.#id
    const reply = await thread.ask({ type: 'open', search, spec: this.#spec }, `${search}`, openMs)
    if (reply.type === 'refused')
      throw new CairnError('invalid_argument', {
        what: `search for '${this.#spec.pattern}'`,
        reason: reply.reason,
        hint: 'Correct the pattern. To find such characters themselves, write a \\ before each.',
        subject: 'pattern',
      })
    if (reply.type !== 'opened') throw new Error('a search thread gave another answer')
    return reply
  }
}

class ScanThread {
  readonly #worker = new Worker(workerUrl)
  readonly #waiting = new Map<string, Waiting>()
  isDead = false

  constructor() {
    this.#worker.unref()
    this.#worker.on('message', (reply: ScanReply) => this.#settle(reply))
    this.#worker.on('error', (error) => this.#die(error))
  }

  /** Answers that it owes. */
  get waiting(): number {
    return this.#waiting.size
  }

  ask(request: ScanRequest, key: string, patienceMs: number): Promise<ScanReply> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#die(new Error('a search thread did not answer in time'))
        void this.#worker.terminate()
      }, patienceMs)
      this.#waiting.set(key, { resolve, reject, timer })
      this.tell(request)
    })
  }

  tell(request: ScanRequest): void {
    if (!this.isDead) this.#worker.postMessage(request)
  }

  #settle(reply: ScanReply): void {
    const key = reply.type === 'scanned' ? `${reply.search}.${reply.job}` : `${reply.search}`
    const waiting = this.#waiting.get(key)
    this.#waiting.delete(key)
    clearTimeout(waiting?.timer)
    waiting?.resolve(reply)
  }

  #die(cause: unknown): void {
    this.isDead = true
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer)
      reject(
        new CairnError('too_slow', {
          what: 'finish the search',
          reason: 'its thread ended',
          hint: 'Try a simpler pattern, or search fewer files.',
          cause,
        }),
      )
    }
    this.#waiting.clear()
  }
}

/** There is one set of cores, so there is one of these. */
export const scanPool: ScanPool = new ScanPool()
