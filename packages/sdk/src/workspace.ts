import type {
  BatchOperation,
  Blame,
  ChangeReceipt,
  ConflictSideName,
  FileEntry,
  GrepEvent,
  SearchAnswer,
  SqlAnswer,
  LogEntry,
  UndoReceipt,
} from '@cairn/protocol'
import type { Connection } from './client/connection.ts'
import type { RequestOptions } from './client/deadline.ts'
import { encodeSegment, type FilePath, showPath, spelled } from './client/path.ts'
import { jsonBody } from './client/request.ts'
import { Files } from './files/files.ts'
import { type PageOptions, readPages } from './files/list.ts'
import type { Location } from './files/location.ts'
import { Journals } from './journal/journals.ts'
import { Layers } from './layers/layers.ts'
import { find, type FindOptions } from './search/find.ts'
import { grep, type GrepOptions } from './search/grep.ts'
import { search, type SearchOptions } from './search/search.ts'
import { Tokens } from './tokens/tokens.ts'
import { Vault } from './vault/vault.ts'

export interface SqlOptions extends RequestOptions {
  /** So many rows at most. */
  readonly limit?: number | undefined
}

export interface WorkspaceOptions {
  /** By its name; `main` unless given. */
  readonly branch?: string | undefined
  /** A layer, by id, name, tag or the label of a checkpoint. */
  readonly layer?: string | undefined
  /** A checkpoint: what was there then, to be read only. */
  readonly at?: string | undefined
  /** One side of a layer in conflict: its base, its own version, or its target's. Read-only. */
  readonly side?: ConflictSideName | undefined
}

export interface LogOptions extends PageOptions {
  /** `oldest` first unless given. */
  readonly order?: 'oldest' | 'newest' | undefined
  /** Sequence numbers: only what came after the one and before the other. */
  readonly after?: number | undefined
  readonly before?: number | undefined
  /** Only what happened at this time or later, and earlier than the other. */
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** Only what concerns this file, or what is below this directory. */
  readonly path?: FilePath | undefined
  /** Only what this key or token did. */
  readonly actor?: string | undefined
  /**
   * With a path. `then` tells also of what was there and has gone, and of what layers did before they were committed,
   * with every path as it was then; it reads the whole log. `now` unless given: of what is there now.
   */
  readonly paths?: 'now' | 'then' | undefined
}

/** Whose changes are taken back: of a tool call, of an actor, or of both. */
export interface UndoOptions extends RequestOptions {
  readonly toolCall?: string | undefined
  /** The id of a key or token. */
  readonly actor?: string | undefined
  /** Only changes at this path and below. */
  readonly path?: string | undefined
  /** Only what happened then or later. */
  readonly since?: Date | undefined
  /** Only tells what would change. */
  readonly dryRun?: boolean | undefined
}

/** One workspace, on one branch. Making the handle asks nothing of the server. */
export class Workspace {
  readonly name: string
  readonly branch: string | undefined
  readonly files: Files
  readonly layers: Layers
  readonly tokens: Tokens
  readonly vault: Vault
  readonly journals: Journals
  /** Which branch or layer, and which point of it. */
  readonly options: WorkspaceOptions
  readonly #connection: Connection
  readonly #location: Location

  constructor(connection: Connection, name: string, options: WorkspaceOptions) {
    const { branch, layer, at, side } = options
    const base = `/workspaces/${encodeSegment(name, 'open the workspace')}`
    this.name = name
    this.branch = branch
    this.#connection = connection
    this.options = options
    this.#location = { base, query: { branch, layer, at, side } }
    this.files = new Files(connection, this.#location)
    this.layers = new Layers(connection, base)
    this.tokens = new Tokens(connection, base)
    this.vault = new Vault(connection, base)
    this.journals = new Journals(connection, base)
  }

  /**
   * The same workspace on one of its layers: every method works there as on `main`. With `at`, as it was at a
   * checkpoint, to be read only.
   *
   * @example
   * ```ts
   * await workspace.layer('fix-auth-a').files.write('/repo/src/auth.ts', code)
   * ```
   */
  layer(reference: string, options: Pick<WorkspaceOptions, 'at' | 'side'> = {}): Workspace {
    return new Workspace(this.#connection, this.name, { ...options, layer: reference })
  }

  /**
   * Up to 1,000 changes, of which all happen or none. The error of the first that fails names it in `subject`:
   * `operations[3]`.
   *
   * @example
   * ```ts
   * await workspace.batch([
   *   { op: 'write', path: '/v2/index.html', text: page, parents: true },
   *   { op: 'remove', path: '/v1', recursive: true },
   * ])
   * ```
   */
  async batch(
    operations: readonly BatchOperation[],
    options: RequestOptions = {},
  ): Promise<ChangeReceipt> {
    const { base, query } = this.#location
    const what = `apply the batch to ${this.name}`
    const call = { what, method: 'POST', path: `${base}/batch`, query } as const
    return this.#connection.json<ChangeReceipt>({ ...call, ...jsonBody({ operations }) }, options)
  }

  /**
   * Who changed what, oldest first unless asked for otherwise, read page by page: leaving the loop early costs no more
   * than what was seen.
   *
   * @example
   * ```ts
   * const since = new Date('2031-05-01')
   * for await (const { seq, actor } of workspace.log({ path: '/src', since, order: 'newest' })) show(seq, actor)
   * ```
   */
  async *log(log: LogOptions = {}): AsyncIterable<LogEntry> {
    const { order, after, before, since, until, path, actor, paths, ...options } = log
    const { base, query } = this.#location
    const what = `read the log of ${this.name}`
    const time = { since: since?.toISOString(), until: until?.toISOString() }
    const filters = {
      ...query,
      order,
      after,
      before,
      ...time,
      ...(path === undefined ? {} : spelled('path', path)),
      actor,
      paths,
    }
    const call = { what, method: 'GET', path: `${base}/log`, query: filters } as const
    yield* readPages<LogEntry>(this.#connection, call, options)
  }

  /**
   * Takes back what a tool call or an actor changed, on top of what is there now, as one change. What came after stays. A
   * path that something else changed since is a conflict, and nothing is done: the error lists them in `conflicts`.
   *
   * @example
   * ```ts
   * const { paths } = await workspace.undo({ toolCall: 'call-7', dryRun: true })
   * ```
   */
  undo(options: UndoOptions): Promise<UndoReceipt> {
    const { toolCall, actor, path, since, dryRun, ...request } = options
    const { base, query } = this.#location
    const what = `undo ${toolCall ?? actor ?? 'changes'}`
    const body = { toolCall, actor, path, since: since?.toISOString(), dryRun }
    const call = { what, method: 'POST', path: `${base}/undo`, query } as const
    return this.#connection.json<UndoReceipt>({ ...call, ...jsonBody(body) }, request)
  }

  /**
   * Who changed each line of a file last; of a file that has gone, as it was. It reads the whole log.
   *
   * @example
   * ```ts
   * const { origins, parts } = await workspace.blame('/src/auth.ts')
   * ```
   */
  blame(path: FilePath, options: RequestOptions = {}): Promise<Blame> {
    const { base, query } = this.#location
    const what = `tell who changed ${showPath(path)}`
    const asked = { ...query, ...spelled('path', path) }
    const call = { what, method: 'GET', path: `${base}/blame`, query: asked } as const
    return this.#connection.json<Blame>(call, options)
  }

  /**
   * Lines of files that match a pattern in ripgrep's syntax: the events of `rg --json`, at last a summary. It sees what is
   * there now, or with `layer` and `at` what was there then.
   *
   * @example
   * ```ts
   * for await (const { type, data } of workspace.grep('Token(Expired|Missing)', { path: '/src' }))
   *   if (type === 'match') console.log(data.path, data.line_number, data.lines)
   * ```
   */
  async *grep(pattern: string, options: GrepOptions = {}): AsyncIterable<GrepEvent> {
    yield* grep(this.#connection, this.#location, pattern, options)
  }

  /**
   * The files that a question is about, the best first, with a passage of each. `truncated` says why not all files were
   * looked at; it is null when they were.
   *
   * @example
   * ```ts
   * const { results } = await workspace.search('where do sessions expire', { path: '/src' })
   * for (const { path, line, passage } of results) console.log(`${path}:${line}`, passage)
   * ```
   */
  search(question: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    return search(this.#connection, this.#location, question, options)
  }

  /**
   * What is below a directory and meets all conditions, depth first. It sees what is there now, or with `layer` and `at` what
   * was there then.
   *
   * @example
   * ```ts
   * const since = new Date(Date.now() - 2 * 3_600_000)
   * for await (const { path } of workspace.find({ path: '/repo', name: '*.ts', newer: since })) console.log(path)
   * ```
   */
  async *find(options: FindOptions = {}): AsyncIterable<FileEntry> {
    yield* find(this.#connection, this.#location, options)
  }

  /**
   * Runs one SELECT on the tables `files`, `tags`, `changes('FROM', 'TO')`, `log`, `layers`, `checkpoints` and `journal`, and on
   * files: `read_csv('/a.csv')`, `read_json`, `read_parquet`. It sees what is there now, or with `layer` and `at` what was there then. At most 1,000 rows unless `limit` says otherwise, and never more than
   * 10,000: `truncated` says whether there are more.
   *
   * @example
   * ```ts
   * const { rows } = await workspace.sql('select ext, count(*) from files group by ext')
   * ```
   */
  sql(sql: string, options: SqlOptions = {}): Promise<SqlAnswer> {
    const { limit, ...others } = options
    const { base, query } = this.#location
    const asked = { ...query, sql, limit }
    const call = { what: 'run the SQL', method: 'GET', path: `${base}/sql`, query: asked } as const
    return this.#connection.json<SqlAnswer>(call, others)
  }
}
