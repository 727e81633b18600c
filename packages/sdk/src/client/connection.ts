import { collect, type OpenAnswer } from './answer.ts'
import type { RetryClock } from './clock.ts'
import { openDeadline, type RequestOptions, timedOut, withPatience } from './deadline.ts'
import { CairnError } from './error.ts'
import { type ApiCall, checkAnswer, describeCause, headersOf, urlOf } from './request.ts'
import { withRetries } from './retry.ts'

export interface ConnectionOptions {
  /** Without a slash at its end. */
  readonly server: string
  readonly apiKey: string
  readonly fetch: typeof fetch
  readonly clock: RetryClock
  /** For calls that do not say. */
  readonly timeoutMs: number | undefined
  /** The agent's tool call; sent to the server with every request. */
  readonly toolCall?: string | undefined
}

/** So long may a server work before it begins to answer; then it is taken for gone, and asked again. */
const answerMsMax = 120_000

/**
 * So long may it be silent in the middle of an answer. It keeps a stream of events open with a comment every 15 s, so
 * this also finds those that died.
 */
const silenceMsMax = 45_000

/** A stream may take as long as its source does; a timer takes no more than this, which is 24 days. */
const streamMsMax = 2_000_000_000

/** A body is not seen to move, so it gets time by its size: for 128 KiB a second, slow for any line. */
const sendBytesPerMs = 128

/** Sends requests, again where that is safe, and turns what comes back into values or CairnErrors. */
export class Connection {
  readonly #options: ConnectionOptions

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  get clock(): RetryClock {
    return this.#options.clock
  }

  /** The JSON of the answer. */
  json<T>(call: ApiCall, options: RequestOptions = {}): Promise<T> {
    return this.#send(call, options, async (answer) => {
      const text = new TextDecoder().decode(await collect(answer))
      try {
        return JSON.parse(text) as T
      } catch (cause) {
        const { status } = answer.response
        throw new CairnError('bad_answer', {
          what: call.what,
          reason: 'the answer is not JSON',
          status,
          cause,
        })
      }
    })
  }

  /** For answers that have no content, or none that matters. */
  async nothing(call: ApiCall, options: RequestOptions = {}): Promise<void> {
    await this.#send(call, options, collect)
  }

  /** The beginning of the answer; only until then are requests repeated. */
  open(call: ApiCall, options: RequestOptions = {}): Promise<OpenAnswer> {
    return this.#send(call, options, (answer) => Promise.resolve(answer))
  }

  /** For calls of several requests: one signal for all of them, the caller's and the deadline together. */
  async within<T>(
    what: string,
    { signal, timeoutMs = this.#options.timeoutMs }: RequestOptions,
    work: (deadline: { readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const deadline = openDeadline(what, { signal, timeoutMs }, this.clock)
    try {
      return await work(deadline)
    } finally {
      deadline.close()
    }
  }

  async #send<T>(
    call: ApiCall,
    { signal, timeoutMs = this.#options.timeoutMs }: RequestOptions,
    take: (answer: OpenAnswer) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options
    // Made once, so that all attempts of a mutation carry the same key.
    const headers = headersOf(call, this.#options)
    const deadline = openDeadline(call.what, { signal, timeoutMs }, clock)
    const attempt = async (): Promise<T> => {
      const answer = await this.#attempt(call, headers, deadline.signal)
      await checkAnswer(call, answer)
      return take(answer)
    }
    try {
      deadline.signal.throwIfAborted()
      return await withRetries(attempt, { clock, signal: deadline.signal })
    } finally {
      deadline.close()
    }
  }

  async #attempt(
    call: ApiCall,
    headers: Readonly<Record<string, string>>,
    caller: AbortSignal,
  ): Promise<OpenAnswer> {
    const { server, clock } = this.#options
    const ending = new AbortController()
    const signal = AbortSignal.any([caller, ending.signal])
    const patient = async <T>(promise: Promise<T>, patienceMs: number): Promise<T> => {
      try {
        return await withPatience(promise, patienceMs, clock, () => timedOut(call.what, patienceMs))
      } catch (cause) {
        ending.abort()
        caller.throwIfAborted()
        throw failureOf(call, cause)
      }
    }
    const { method, stream } = call
    const body = stream ? bodyStreamOf(stream()) : call.body
    const init = {
      method,
      headers,
      signal,
      ...(body === undefined ? {} : { body }),
      ...(stream ? { duplex: 'half' } : {}),
    } as RequestInit
    const patienceMs = stream ? streamMsMax : answerMsMax + sizeOf(call.body) / sendBytesPerMs
    const response = await patient(this.#options.fetch(urlOf(server, call), init), patienceMs)
    const reader = response.body?.getReader()
    return {
      response,
      next: async () => {
        if (reader === undefined) return undefined
        const { value } = await patient(reader.read(), silenceMsMax)
        return value
      },
      cancel: () => ending.abort(),
    }
  }
}

/** Asks for no more than is sent. */
function bodyStreamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

function failureOf(call: ApiCall, cause: unknown): unknown {
  if (cause instanceof CairnError) return cause
  return new CairnError('unreachable', { what: call.what, reason: describeCause(cause), cause })
}

function sizeOf(body: ApiCall['body']): number {
  if (body === undefined || typeof body === 'string') return body?.length ?? 0
  return body instanceof Blob ? body.size : body.byteLength
}
