import { Worker } from 'node:worker_threads'
import { CairnError } from '@cairn/protocol'
import { runTextJob } from './text-jobs.ts'
import type { TextJob, TextReply, TextResults } from './text-messages.ts'

// The compiler renames imports, not URLs. From the sources, a thread must be told to take the sources of packages, too.
const isSource = import.meta.url.endsWith('.ts')
const threadUrl = isSource
  ? new URL('./text-thread.ts', import.meta.url)
  : new URL('./text-thread.js', import.meta.url)
const execArgv = isSource ? ['--conditions=source'] : []

/** Up to here the lines are compared in a few milliseconds, however hostile they are. */
const smallBytes = 32 << 10
/** The work on one file is bounded by its size and takes a second or two; a thread that is so late is stuck. */
const stuckMs = 60_000

interface Waiting {
  readonly resolve: (result: TextResults[TextJob['type']]) => void
  readonly reject: (error: CairnError) => void
  readonly timer: NodeJS.Timeout
}

/** Compares and merges the lines of files; of large ones in a thread, one after the other. */
class TextWorker {
  #thread: Worker | undefined
  #lastId = 0
  readonly #waiting = new Map<number, Waiting>()

  async run<Job extends TextJob>(job: Job): Promise<TextResults[Job['type']]> {
    type Result = TextResults[Job['type']]
    if (bytesOf(job) <= smallBytes) return runTextJob(job) as Result
    return (await this.#ask(job)) as Result
  }

  #ask(job: TextJob): Promise<TextResults[TextJob['type']]> {
    const thread = (this.#thread ??= this.#start())
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#die(thread)
        void thread.terminate()
      }, stuckMs)
      this.#waiting.set(id, { resolve, reject, timer })
      thread.postMessage({ id, job })
    })
  }

  #start(): Worker {
    const thread = new Worker(threadUrl, { execArgv })
    thread.unref()
    thread.on('message', (reply: TextReply) => this.#settle(reply))
    thread.on('error', (error) => this.#die(thread, error))
    return thread
  }

  #settle(reply: TextReply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    clearTimeout(waiting?.timer)
    if ('error' in reply) waiting?.reject(failed(reply.error))
    else waiting?.resolve(reply.result)
  }

  /** The next job starts another one. */
  #die(thread: Worker, cause?: unknown): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer)
      reject(failed('its thread ended', cause))
    }
    this.#waiting.clear()
  }
}

function bytesOf(job: TextJob): number {
  if (job.type === 'merge') return job.base.length + job.ours.length + job.theirs.length
  if (job.type === 'patch') return (job.before.bytes?.length ?? 0) + (job.after.bytes?.length ?? 0)
  return job.before.length + job.after.length
}

function failed(reason: string, cause?: unknown): CairnError {
  return new CairnError('internal', { what: 'compare the lines of a file', reason, cause })
}

/** There is one event loop to keep free, so there is one of these. */
export const textWorker: TextWorker = new TextWorker()
