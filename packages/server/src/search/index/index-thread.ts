import { Worker } from 'node:worker_threads'
import type {
  IndexClause,
  IndexMessage,
  IndexReply,
  IndexRequest,
  IndexStatus,
  NewContent,
} from './index-messages.ts'

// The compiler renames imports, not URLs.
const workerUrl = import.meta.url.endsWith('.ts')
  ? new URL('./index-worker.ts', import.meta.url)
  : new URL('./index-worker.js', import.meta.url)

interface Waiting {
  readonly resolve: (reply: IndexReply) => void
  readonly reject: (error: Error) => void
}

/** The thread of all indexes of this process. It is started when it is needed, and does not keep the process alive. */
export class IndexThread {
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #jobs = 0

  /** Tells which keys are not known: a byte of 1 for each. */
  missing(directory: string, keys: Uint8Array): Promise<Uint8Array> {
    return this.#bytes(directory, { type: 'missing', keys })
  }

  /** One of `verdicts` for each key. */
  select(
    directory: string,
    keys: Uint8Array,
    clauses: readonly IndexClause[],
    isText: boolean,
  ): Promise<Uint8Array> {
    return this.#bytes(directory, { type: 'select', keys, clauses, isText })
  }

  add(directory: string, contents: readonly NewContent[]): Promise<IndexStatus> {
    return this.#status(directory, { type: 'add', contents })
  }

  /** Drops the signatures of all other contents. */
  keep(directory: string, keys: Uint8Array): Promise<IndexStatus> {
    return this.#status(directory, { type: 'keep', keys })
  }

  status(directory: string): Promise<IndexStatus> {
    return this.#status(directory, { type: 'status' })
  }

  async remove(directory: string): Promise<void> {
    await this.#status(directory, { type: 'remove' })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  async #bytes(directory: string, request: IndexRequest): Promise<Uint8Array> {
    const reply = await this.#ask(directory, request)
    if (reply.type !== 'bytes') throw new Error('the thread of the index gave another answer')
    return reply.bytes
  }

  async #status(directory: string, request: IndexRequest): Promise<IndexStatus> {
    const reply = await this.#ask(directory, request)
    if (reply.type !== 'status') throw new Error('the thread of the index gave another answer')
    return { contents: reply.contents, bytes: reply.bytes }
  }

  async #ask(directory: string, request: IndexRequest): Promise<IndexReply> {
    const job = ++this.#jobs
    const message: IndexMessage = { job, directory, request }
    const reply = await new Promise<IndexReply>((resolve, reject) => {
      this.#waiting.set(job, { resolve, reject })
      this.#start().postMessage(message)
    })
    if (reply.type === 'failed') throw new Error(`the index of searches: ${reply.reason}`)
    return reply
  }

  #start(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(workerUrl)
    worker.unref()
    worker.on('message', (reply: IndexReply) => {
      this.#waiting.get(reply.job)?.resolve(reply)
      this.#waiting.delete(reply.job)
    })
    worker.on('error', (error: Error) => this.#die(worker, error))
    worker.on('exit', () => this.#die(worker, new Error('the thread of the index has ended')))
    this.#worker = worker
    return worker
  }

  #die(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
