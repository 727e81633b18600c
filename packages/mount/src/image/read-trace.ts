import { joinTraces, type Ino, type Trace, tracedBlockBytes, type TraceItem } from '@cairn/protocol'

/** What an agent or a build looks at first is over by then, and what follows is its work. */
const windowMs = 10_000
/** What the next mount is sent ahead, at most. */
const bytesMax = 32 << 20
const itemsMax = 4096

export interface ReadTraceParts {
  /** Directories that programs looked into. */
  readonly usedDirectories: () => Iterable<Ino>
  readonly nowMs: () => number
}

/** What programs read in the seconds after they first read a file: the next mount of the directory is sent it ahead. */
export class ReadTrace {
  readonly #parts: ReadTraceParts
  readonly #blocks = new Map<string, TraceItem>()
  #bytes = 0
  #endMs: number | undefined
  /** Called when the seconds begin, with how long they last. */
  onBegin: (lastsMs: number) => void = () => undefined

  constructor(parts: ReadTraceParts) {
    this.#parts = parts
  }

  /** A program read these bytes of a file. */
  readonly note = (ino: Ino, offset: number, end: number): void => {
    if (this.#endMs === undefined) this.#begin()
    if (this.#bytes >= bytesMax || this.#parts.nowMs() > this.#endMs!) return
    for (let at = offset - (offset % tracedBlockBytes); at < end; at += tracedBlockBytes) {
      const block = at / tracedBlockBytes
      const key = `${ino} ${block}`
      if (this.#blocks.has(key) || this.#blocks.size >= itemsMax) continue
      this.#blocks.set(key, { ino, block })
      // The kernel reads ahead, so a small file is read to its end.
      this.#bytes += Math.min(end, at + tracedBlockBytes) - Math.max(offset, at)
    }
  }

  #begin(): void {
    this.#endMs = this.#parts.nowMs() + windowMs
    this.onBegin(windowMs)
  }

  /** Once: there is nothing to tell afterwards. */
  take(): Trace {
    const directories = Array.from(this.#parts.usedDirectories(), (ino) => ({
      ino,
      block: undefined,
    }))
    const trace = joinTraces([...directories, ...this.#blocks.values()], [])
    this.#blocks.clear()
    this.#bytes = Infinity
    return trace
  }
}
