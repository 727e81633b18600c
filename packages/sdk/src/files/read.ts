import type { OpenAnswer } from '../client/answer.ts'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { CairnError } from '../client/error.ts'
import type { ApiCall } from '../client/request.ts'
import { attemptsMax, isPassing, pauseMs } from '../client/retry.ts'

export interface ByteRange {
  /** The first byte. */
  readonly offset?: number | undefined
  /** How many; fewer come when the file ends before. All that follow unless given. */
  readonly length?: number | undefined
}

export interface ReadOptions extends RequestOptions, ByteRange {
  /** Reads only when the file still has this etag; else `file_changed`. */
  readonly ifMatch?: string | undefined
}

/**
 * Reads a file from the server, going on after a cut where the bytes stopped. A file that has changed by then is
 * `file_changed`: the two halves would not belong together.
 */
export class FileReader {
  readonly #connection: Connection
  readonly #call: ApiCall
  readonly #options: ReadOptions
  #answer: OpenAnswer | undefined
  #offset: number
  #left: number
  #etag: string | undefined
  #wasOpen = false
  #failures = 0

  constructor(connection: Connection, call: ApiCall, options: ReadOptions) {
    this.#connection = connection
    this.#call = call
    this.#options = options
    this.#offset = options.offset ?? 0
    this.#left = options.length ?? Infinity
    this.#etag = options.ifMatch
  }

  /** Asks for the bytes that are still wanted. Rejects when there is no such file. */
  async open(): Promise<void> {
    const range = this.#range()
    const { what } = this.#call
    const call = { ...this.#call, headers: { range }, expected: [416] }
    const answer = await this.#connection.open(call, this.#options)
    const { status, headers } = answer.response
    const etag = headers.get('etag') ?? undefined
    if (this.#etag !== undefined && etag !== this.#etag) {
      answer.cancel()
      throw new CairnError('file_changed', { what, reason: 'it is not the same any more' })
    }
    this.#etag = etag
    this.#wasOpen = true
    // A range that begins at or after the end: what pread(2) answers with no bytes.
    if (status === 416) this.#left = 0
    else if (range !== undefined && !isRangeFrom(headers, this.#offset)) {
      answer.cancel()
      throw new CairnError('bad_answer', {
        what,
        reason: 'the range asked for was ignored',
        status,
      })
    }
    this.#answer = answer
  }

  /** The next bytes; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      try {
        if (this.#answer === undefined) await this.open()
        const chunk = this.#left > 0 ? await this.#answer?.next() : undefined
        if (chunk === undefined) this.cancel()
        else this.#count(chunk)
        return chunk
      } catch (error) {
        await this.#recover(error)
      }
    }
  }

  cancel(): void {
    this.#answer?.cancel()
  }

  #count(chunk: Uint8Array): void {
    this.#offset += chunk.length
    this.#left -= chunk.length
    this.#failures = 0
  }

  async #recover(error: unknown): Promise<void> {
    this.#answer?.cancel()
    this.#answer = undefined
    this.#failures++
    if (!isPassing(error) || !this.#wasOpen || this.#failures >= attemptsMax) throw error
    const { clock } = this.#connection
    const signal = this.#options.signal ?? new AbortController().signal
    await clock.sleep(pauseMs(this.#failures, clock, error), signal)
    signal.throwIfAborted()
  }

  #range(): string | undefined {
    if (this.#offset === 0 && this.#left === Infinity) return undefined
    // No header asks for nothing: one byte is asked for and not waited for.
    const last = this.#offset + Math.max(this.#left, 1) - 1
    return `bytes=${this.#offset}-${last === Infinity ? '' : last}`
  }
}

function isRangeFrom(headers: Headers, offset: number): boolean {
  return headers.get('content-range')?.startsWith(`bytes ${offset}-`) === true
}

/** The reader as a stream that asks for no more than is taken from it. */
export function streamOf(reader: FileReader): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const chunk = await reader.next()
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel: () => reader.cancel(),
  })
}
