import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { CairnError } from '@cairn/protocol'
import type { Engine } from './pattern/pattern.ts'
import type { Needs } from './pattern/needs.ts'
import type { FilePart, ScanReply, ScanRequest, Scanned, SearchSpec } from './scan-messages.ts'

// The compiler renames imports, not URLs.
const workerUrl = import.meta.url.endsWith('.ts')
  ? new URL('./scan-worker.ts', import.meta.url)
  : new URL('./scan-worker.js', import.meta.url)

/** One core stays free for the event loop. */
const workersMax = Math.max(1, Math.min(4, availableParallelism() - 1))
/** A thread looks at its deadline often; one that is so late is stuck, and is ended. */
const stuckMs = 10_000
const openMs = 5000

interface Waiting {
  readonly resolve: (reply: ScanReply) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** A search in a thread. Pieces are scanned in the order in which they are sent. */
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
    const search = ++this.#nextSearch
    const thread = this.#pick()
    const reply = await thread.ask({ type: 'open', search, spec }, `${search}`, openMs)
    if (reply.type === 'refused')
      throw new CairnError('invalid_argument', {
        what: `search for '${spec.pattern}'`,
        reason: reply.reason,
        hint: 'Correct the pattern, or give --fixed-strings for plain text.',
        subject: 'pattern',
      })
    if (reply.type !== 'opened') throw new Error('a search thread gave another answer')
    thread.searches++
    let jobs = 0
    let isOpen = true
    return {
      engine: reply.engine,
      needs: reply.needs,
      scan: async (pieces, limits) => {
        const job = ++jobs
        const request = { type: 'scan', search, job, pieces, ...limits } as const
        return (await thread.ask(request, `${search}.${job}`, limits.timeMs + stuckMs)) as Scanned &
          ScanReply
      },
      close: () => {
        if (isOpen) thread.searches--
        isOpen = false
        thread.tell({ type: 'close', search })
      },
    }
  }

  #pick(): ScanThread {
    for (let at = this.#threads.length - 1; at >= 0; at--)
      if (this.#threads[at]!.isDead) this.#threads.splice(at, 1)
    const idle = this.#threads.find(({ searches }) => searches === 0)
    if (idle) return idle
    if (this.#threads.length < workersMax) {
      const thread = new ScanThread()
      this.#threads.push(thread)
      return thread
    }
    return this.#threads.toSorted((a, b) => a.searches - b.searches)[0]!
  }
}

class ScanThread {
  readonly #worker = new Worker(workerUrl)
  readonly #waiting = new Map<string, Waiting>()
  searches = 0
  isDead = false

  constructor() {
    this.#worker.unref()
    this.#worker.on('message', (reply: ScanReply) => this.#settle(reply))
    this.#worker.on('error', (error) => this.#die(error))
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
