import type { ChangeEvent, FileEntry, FileStat, LogEntry, Page } from '@cairn/protocol'
import { bytesOf, collect, type PlainBytes } from '../client/answer.ts'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { isCairnError } from '../client/error.ts'
import { type FilePath, showPath, spelled } from '../client/path.ts'
import { findMatches } from '../glob/find-matches.ts'
import { type PageOptions, readPages } from './list.ts'
import { fileCall, type Location } from './location.ts'
import { FileReader, type ReadOptions, streamOf } from './read.ts'
import { watchEvents, type WatchOptions } from './watch.ts'

export interface StatOptions extends RequestOptions {
  /** False: tells about a symlink itself. */
  readonly follow?: boolean | undefined
}

export interface ListPageOptions extends RequestOptions {
  readonly recursive?: boolean | undefined
  /** 1000 unless given, which is also the most. */
  readonly limit?: number | undefined
  /** `next` of the page before. */
  readonly cursor?: string | undefined
}

/** The half of `Files` that changes nothing. */
export class ReadableFiles {
  protected readonly connection: Connection
  protected readonly location: Location

  constructor(connection: Connection, location: Location) {
    this.connection = connection
    this.location = location
  }

  /**
   * The bytes of a file or a part of it. A range that begins after the end gives none.
   *
   * @example
   * ```ts
   * const head = await workspace.files.read('/video.mp4', { offset: 0, length: 4096 })
   * ```
   */
  async read(path: FilePath, options: ReadOptions = {}): Promise<PlainBytes> {
    const what = `read ${showPath(path)}`
    return this.connection.within(what, options, async ({ signal }) => {
      const reader = this.#reader(path, { ...options, signal, timeoutMs: undefined })
      await reader.open()
      return collect(reader)
    })
  }

  /**
   * A file as text. Bytes that are no UTF-8 become U+FFFD; a byte-order mark stays.
   *
   * @example
   * ```ts
   * const plan = await workspace.files.readText('/plan.md')
   * ```
   */
  async readText(path: FilePath, options: ReadOptions = {}): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.read(path, options))
  }

  /**
   * A file as a stream, of any size. After a cut it goes on where it was, or fails with `file_changed`.
   *
   * @example
   * ```ts
   * const log = await workspace.files.readStream('/build.log', { offset: 1_000_000 })
   * for await (const bytes of log) process.stdout.write(bytes)
   * ```
   */
  async readStream(path: FilePath, options: ReadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const reader = this.#reader(path, options)
    await reader.open()
    return streamOf(reader)
  }

  /**
   * A directory and all that is in it as one tar archive, of one moment.
   *
   * @example
   * ```ts
   * for await (const bytes of await workspace.files.archive('/repo')) process.stdout.write(bytes)
   * ```
   */
  async archive(
    path: FilePath,
    { gzip, ...options }: RequestOptions & { readonly gzip?: boolean | undefined } = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const query = { archive: gzip === true ? 'tgz' : 'tar' }
    const call = fileCall(this.location, 'GET', path, `archive ${showPath(path)}`, query)
    return bytesOf(await this.connection.open(call, options))
  }

  /**
   * What is known of a path: kind, size, mode, times, etag.
   *
   * @example
   * ```ts
   * const { size, etag } = await workspace.files.stat('/plan.md')
   * ```
   */
  async stat(path: FilePath, { follow, ...options }: StatOptions = {}): Promise<FileStat> {
    const query = { stat: true, follow }
    const call = fileCall(this.location, 'GET', path, `stat ${showPath(path)}`, query)
    return this.connection.json<FileStat>(call, options)
  }

  /**
   * Whether there is something at the path. A symlink that leads nowhere is nothing, unless `follow` is false.
   *
   * @example
   * ```ts
   * if (!(await workspace.files.exists('/done'))) await work()
   * ```
   */
  async exists(path: FilePath, options: StatOptions = {}): Promise<boolean> {
    try {
      await this.stat(path, options)
      return true
    } catch (error) {
      if (isCairnError(error) && (error.errno === 'ENOENT' || error.errno === 'ENOTDIR'))
        return false
      throw error
    }
  }

  /**
   * The entries of a directory in byte order of their names, read page by page.
   *
   * @example
   * ```ts
   * for await (const { name, size } of workspace.files.list('/src')) console.log(name, size)
   * ```
   */
  async *list(path: FilePath = '/', options: PageOptions = {}): AsyncIterable<FileEntry> {
    const call = fileCall(this.location, 'GET', path, `list ${showPath(path)}`, { list: true })
    yield* readPages<FileEntry>(this.connection, call, options)
  }

  /**
   * One page of a listing and the cursor of the next one, for callers that keep their place between calls. With
   * `recursive`, of everything below the directory.
   *
   * @example
   * ```ts
   * const { items, next } = await workspace.files.listPage('/src', { limit: 100 })
   * ```
   */
  async listPage(
    path: FilePath,
    { recursive = false, limit = 1000, cursor, ...options }: ListPageOptions = {},
  ): Promise<Page<FileEntry>> {
    const query = { list: true, recursive: recursive || undefined, limit, cursor }
    const call = fileCall(this.location, 'GET', path, `list ${showPath(path)}`, query)
    return this.connection.json<Page<FileEntry>>(call, options)
  }

  /**
   * Everything below a directory, depth first, parents before children, read page by page: memory does not grow with
   * the tree, and a lost connection costs a page. What is made or removed meanwhile may or may not be met.
   *
   * @example
   * ```ts
   * for await (const entry of workspace.files.walk('/')) total += entry.size
   * ```
   */
  async *walk(path: FilePath = '/', options: PageOptions = {}): AsyncIterable<FileEntry> {
    const query = { list: true, recursive: true }
    const call = fileCall(this.location, 'GET', path, `walk ${showPath(path)}`, query)
    yield* readPages<FileEntry>(this.connection, call, options)
  }

  /**
   * What matches a pattern: `*` and `?` within a name, `**` for any number of directories, `[a-z]` and `[!a-z]`,
   * `{this,that}`, `\` before a character that shall be itself. As in a shell, wildcards do not match a dot at the
   * beginning of a name; unlike there, they do not go through symlinks.
   *
   * @example
   * ```ts
   * for await (const { path } of workspace.files.glob('/src/**\/*.{ts,tsx}')) console.log(path)
   * ```
   */
  async *glob(pattern: string, options: RequestOptions = {}): AsyncIterable<FileEntry> {
    yield* findMatches(this, pattern, options)
  }

  /**
   * The batches that changed a file, newest first.
   *
   * @example
   * ```ts
   * for await (const { time, actor } of workspace.files.history('/plan.md')) console.log(time, actor)
   * ```
   */
  async *history(path: FilePath, options: PageOptions = {}): AsyncIterable<LogEntry> {
    const what = `read the history of ${showPath(path)}`
    const call = fileCall(this.location, 'GET', path, what, { history: true })
    yield* readPages<LogEntry>(this.connection, call, options)
  }

  /**
   * Changes at or below a path as they happen, each once and in order, also across lost connections. Leaving the
   * loop closes the connection; aborting the signal ends the loop with the signal's reason.
   *
   * @example
   * ```ts
   * for await (const { seq, operations } of workspace.files.watch('/inbox', { after: 17 })) handle(operations)
   * ```
   */
  async *watch(path: FilePath = '/', options: WatchOptions = {}): AsyncIterable<ChangeEvent> {
    const { base, query } = this.location
    const what = `watch ${showPath(path)}`
    const about = { ...query, ...spelled('path', path) }
    const call = { what, method: 'GET', path: `${base}/events`, query: about } as const
    yield* watchEvents(this.connection, call, options)
  }

  #reader(path: FilePath, options: ReadOptions): FileReader {
    const call = fileCall(this.location, 'GET', path, `read ${showPath(path)}`)
    return new FileReader(this.connection, call, options)
  }
}
