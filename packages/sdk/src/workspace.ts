import type { BatchOperation, ChangeReceipt, LogEntry } from '@cairn/protocol'
import type { Connection } from './client/connection.ts'
import type { RequestOptions } from './client/deadline.ts'
import { encodeSegment } from './client/path.ts'
import { jsonBody } from './client/request.ts'
import { Files } from './files/files.ts'
import { type PageOptions, readPages } from './files/list.ts'
import type { Location } from './files/location.ts'

export interface WorkspaceOptions {
  /** `main` unless given. */
  readonly branch?: string | undefined
}

export interface LogOptions extends PageOptions {
  /** A sequence number: only what came after it. */
  readonly after?: number | undefined
  /** Only what concerns this file, or what is below this directory. */
  readonly path?: string | undefined
  /** Only what this key or token did. */
  readonly actor?: string | undefined
}

/** One workspace, on one branch. Making the handle asks nothing of the server. */
export class Workspace {
  readonly name: string
  readonly branch: string | undefined
  readonly files: Files
  readonly #connection: Connection
  readonly #location: Location

  constructor(connection: Connection, name: string, { branch }: WorkspaceOptions) {
    const base = `/workspaces/${encodeSegment(name, 'open the workspace')}`
    this.name = name
    this.branch = branch
    this.#connection = connection
    this.#location = { base, query: { branch } }
    this.files = new Files(connection, this.#location)
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
   * Who changed what, oldest first.
   *
   * @example
   * ```ts
   * for await (const { seq, actor, operations } of workspace.log({ path: '/src' })) show(seq, actor, operations)
   * ```
   */
  async *log({ after, path, actor, ...options }: LogOptions = {}): AsyncIterable<LogEntry> {
    const { base, query } = this.#location
    const what = `read the log of ${this.name}`
    const filters = { ...query, after, path, actor }
    const call = { what, method: 'GET', path: `${base}/log`, query: filters } as const
    yield* readPages<LogEntry>(this.#connection, call, options)
  }
}
