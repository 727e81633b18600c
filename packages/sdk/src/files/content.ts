/** What can be written. A stream is read once; everything else may be sent again after a cut. */
export type FileContent = string | Uint8Array | Blob | ReadableStream<Uint8Array>

/** Bytes that are there already, so that a request with them can be repeated. */
export type ReadyContent = Uint8Array | Blob

export function isStream(content: FileContent): content is ReadableStream<Uint8Array> {
  return (
    typeof content === 'object' && 'getReader' in content && typeof content.getReader === 'function'
  )
}

export function toReady(content: string | ReadyContent): ReadyContent {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content
}

export function sizeOfReady(content: ReadyContent): number {
  return content instanceof Blob ? content.size : content.byteLength
}

export function sliceReady(content: ReadyContent, start: number, end: number): ReadyContent {
  return content instanceof Blob ? content.slice(start, end) : content.subarray(start, end)
}

/** Takes pieces of a wanted size from a stream, whose own pieces may have any. */
export class StreamCutter {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #signal: AbortSignal
  #chunks: Uint8Array[] = []

  constructor(stream: ReadableStream<Uint8Array>, signal: AbortSignal) {
    this.#reader = stream.getReader()
    this.#signal = signal
    // A stream that gives nothing, such as a terminal, must not keep the call from ending.
    const cancel = (): void => void this.cancel(signal.reason).catch(() => {})
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
  }

  /** Exactly so many bytes, or fewer at the end of the stream. Rejects with the reason of an abort. */
  async take(size: number): Promise<Uint8Array> {
    const piece = new Uint8Array(size)
    let filled = 0
    while (filled < size) {
      const chunk = this.#chunks.shift() ?? (await this.#reader.read()).value
      // A cancelled stream looks as if it had ended; half a file must not be taken for a whole one.
      this.#signal.throwIfAborted()
      if (chunk === undefined) break
      const fitting = chunk.subarray(0, size - filled)
      piece.set(fitting, filled)
      filled += fitting.length
      if (fitting.length < chunk.length) this.#chunks.unshift(chunk.subarray(fitting.length))
    }
    return piece.subarray(0, filled)
  }

  /** Puts bytes back, to be taken next. */
  giveBack(bytes: Uint8Array): void {
    this.#chunks.unshift(bytes)
  }

  /** Cancels the source: no more will be read. */
  async cancel(reason: unknown): Promise<void> {
    await this.#reader.cancel(reason)
  }
}
