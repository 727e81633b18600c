import { type ByteString, FewAtOnce, isName, type TarEntry, TarReader } from '@cairn/protocol'
import { cliError } from '../errors.ts'
import { isEntryFailure } from './failures.ts'
import type { LocalSink } from './local-sink.ts'
import type { CopyProgress } from './observer.ts'
import type { TreeEntry } from './tree.ts'

/** Smaller files are read whole and written several at a time. */
const wholeBytesMax = 1 << 20
const writesAtOnce = 8

/** Writes a tar archive of a server to this machine. What one file refuses is reported, and the rest goes on. */
export async function unpackTree(
  archive: AsyncIterable<Uint8Array>,
  sink: LocalSink,
  root: TreeEntry,
  progress: CopyProgress,
  signal: AbortSignal,
): Promise<void> {
  const unpacking = new Unpacking(new TarReader(archive), sink, progress, signal)
  await unpacking.run(root)
  signal.throwIfAborted()
  await sink.finish()
}

class Unpacking {
  readonly #reader: TarReader
  readonly #sink: LocalSink
  readonly #progress: CopyProgress
  readonly #signal: AbortSignal
  /** Only what was made here is written into: a symlink could lead elsewhere. */
  readonly #made = new Set<ByteString>()
  readonly #gate = new FewAtOnce(writesAtOnce)
  readonly #writing = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | undefined

  constructor(reader: TarReader, sink: LocalSink, progress: CopyProgress, signal: AbortSignal) {
    this.#reader = reader
    this.#sink = sink
    this.#progress = progress
    this.#signal = signal
  }

  async run(root: TreeEntry): Promise<void> {
    await this.#makeDirectory(root)
    for (let entry = await this.#reader.next(); entry; entry = await this.#reader.next()) {
      this.#signal.throwIfAborted()
      if (this.#failure) break
      await this.#take(entry)
    }
    await this.#drain()
    if (this.#failure) throw this.#failure.error
  }

  async #take(entry: TarEntry): Promise<void> {
    const path = pathOf(entry)
    const slash = path.lastIndexOf('/')
    if (!this.#made.has(slash < 0 ? '' : path.slice(0, slash))) return
    const { kind, size, mode, target } = entry
    if (kind === 'directory') return this.#makeDirectory({ path, kind, size: 0, mode, version: '' })
    const one = { path, kind: kind === 'link' ? ('file' as const) : kind, size, mode, version: '' }
    if (kind === 'symlink')
      return this.#attempt(one, () => this.#sink.makeSymlink({ ...one, target: target ?? '' }))
    if (kind === 'link') {
      await this.#drain()
      return this.#attempt(one, () => this.#sink.makeLink(path, pathOf({ path: target ?? '' })))
    }
    await this.#write(one)
  }

  async #write(entry: TreeEntry): Promise<void> {
    const moving = { signal: this.#signal, onBytes: (n: number) => this.#progress.moved(n) }
    if (entry.size > wholeBytesMax) {
      const content = ReadableStream.from(this.#contentOf())
      return this.#attempt(entry, () => this.#sink.writeFile(entry, async () => content, moving))
    }
    // A copy: what the reader gives is a view of a larger buffer.
    const bytes = (await this.#reader.content(entry.size)).slice()
    const write = this.#gate.pass(() =>
      this.#attempt(entry, () => this.#sink.writeFile(entry, async () => bytes, moving)),
    )
    const settled: Promise<void> = write
      .catch((error: unknown) => void (this.#failure ??= { error }))
      .finally(() => this.#writing.delete(settled))
    this.#writing.add(settled)
    if (this.#writing.size >= 2 * writesAtOnce) await Promise.race(this.#writing)
  }

  async *#contentOf(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const bytes = await this.#reader.content(wholeBytesMax)
      if (bytes.length === 0) return
      yield bytes
    }
  }

  async #makeDirectory(entry: TreeEntry): Promise<void> {
    const [failed] = await this.#sink.makeDirectories([entry])
    if (!failed) {
      this.#made.add(entry.path)
      return this.#progress.finished(entry)
    }
    if (entry.path === '') throw failed.error
    await this.#progress.failed(failed)
  }

  async #attempt(entry: TreeEntry, work: () => Promise<void>): Promise<void> {
    try {
      await work()
      this.#progress.finished(entry)
    } catch (error) {
      if (this.#signal.aborted || !isEntryFailure(error)) throw error
      await this.#progress.failed({ path: entry.path, error })
    }
  }

  async #drain(): Promise<void> {
    await Promise.all(this.#writing)
  }
}

/** A server must not be able to name a place outside of the copy. */
function pathOf({ path }: Pick<TarEntry, 'path'>): ByteString {
  const names = path.split('/').filter((name) => name !== '')
  if (names.length > 0 && names.every(isName)) return names.join('/')
  throw cliError(
    'local_file',
    `copy ${path}`,
    'it is outside of the copy',
    'Do not trust this server.',
  )
}
