import type { DeletedWorkspace, WorkspaceDeletion, WorkspaceInfo } from '@cairn/protocol'
import { bytesOf } from './client/answer.ts'
import type { Connection } from './client/connection.ts'
import type { RequestOptions } from './client/deadline.ts'
import { encodeSegment } from './client/path.ts'
import { type ApiCall, jsonBody } from './client/request.ts'
import { type PageOptions, readPages } from './files/list.ts'
import type { WorkspaceOptions } from './workspace.ts'

export interface QuotaOptions extends RequestOptions {
  /** Null takes the limit away; what is not given stays. */
  readonly maxBytes?: number | null | undefined
  readonly maxFiles?: number | null | undefined
}

export interface RestoreOptions extends RequestOptions {
  /** The name it gets; the one it had unless given. */
  readonly as?: string | undefined
}

export interface ForkWorkspaceOptions extends RequestOptions, Omit<WorkspaceOptions, 'side'> {}

/** The workspaces that the key may see. */
export class Workspaces {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Makes a workspace; `workspace_exists` when the name is taken.
   *
   * @example
   * ```ts
   * await cairn.workspaces.create('website')
   * ```
   */
  async create(name: string, options: RequestOptions = {}): Promise<WorkspaceInfo> {
    const what = `make the workspace ${name}`
    return this.#connection.json<WorkspaceInfo>(
      { what, method: 'POST', path: '/workspaces', ...jsonBody({ name }) },
      options,
    )
  }

  /**
   * A new workspace that starts from a point of another and lives on its own. Constant time, whatever its size.
   *
   * @example
   * ```ts
   * await cairn.workspaces.fork('website', 'experiment', { at: 'tests-pass' })
   * ```
   */
  async fork(
    from: string,
    name: string,
    { branch, layer, at, ...options }: ForkWorkspaceOptions = {},
  ): Promise<WorkspaceInfo> {
    const what = `fork the workspace ${from}`
    const path = `/workspaces/${encodeSegment(from, what)}/fork`
    const query = { branch, layer, at }
    return this.#connection.json<WorkspaceInfo>(
      { what, method: 'POST', path, query, ...jsonBody({ name }) },
      options,
    )
  }

  /**
   * A workspace with its history as one file: logs, trees, content, layers, checkpoints and journals. `since` is how an earlier bundle
   * begins, up to the end of its head, and its id: then what that one has is left out.
   *
   * @example
   * ```ts
   * const bundle = await cairn.workspaces.exportBundle('website')
   * await pipeline(bundle, createWriteStream('website.cairn'))
   * ```
   */
  async exportBundle(
    name: string,
    { since, ...options }: RequestOptions & { readonly since?: Uint8Array | undefined } = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const what = `export the workspace ${name}`
    const path = `/workspaces/${encodeSegment(name, what)}/bundle`
    const call = since ? { method: 'POST', body: since } : { method: 'GET' }
    return bytesOf(await this.#connection.open({ what, path, ...call } as ApiCall, options))
  }

  /**
   * Makes the workspace of a bundle, with all its history. `open` gives the bundle, and after it those that go on from it.
   *
   * @example
   * ```ts
   * await cairn.workspaces.importBundle(() => createReadStream('website.cairn'))
   * ```
   */
  async importBundle(
    open: () => AsyncIterable<Uint8Array>,
    { as: name, ...options }: RestoreOptions = {},
  ): Promise<WorkspaceInfo> {
    return this.#connection.json<WorkspaceInfo>(
      {
        what: 'import the bundle',
        method: 'POST',
        path: '/bundles',
        query: { name },
        stream: open,
      },
      options,
    )
  }

  /**
   * All workspaces, read page by page.
   *
   * @example
   * ```ts
   * for await (const { name } of cairn.workspaces.list()) console.log(name)
   * ```
   */
  async *list(options: PageOptions = {}): AsyncIterable<WorkspaceInfo> {
    const call = { what: 'list workspaces', method: 'GET', path: '/workspaces' } as const
    yield* readPages<WorkspaceInfo>(this.#connection, call, options)
  }

  /**
   * One workspace, by name or id; `workspace_missing` when there is none.
   *
   * @example
   * ```ts
   * const { id, createdAt } = await cairn.workspaces.get('website')
   * ```
   */
  async get(name: string, options: RequestOptions = {}): Promise<WorkspaceInfo> {
    const what = `look up the workspace ${name}`
    const path = `/workspaces/${encodeSegment(name, what)}`
    return this.#connection.json<WorkspaceInfo>({ what, method: 'GET', path }, options)
  }

  /**
   * Limits how much each tree of a workspace may hold, `main` and layers alike. What would grow beyond is refused with
   * `quota_exceeded`; what is there stays.
   *
   * @example
   * ```ts
   * await cairn.workspaces.setQuota('website', { maxBytes: 10 * 2 ** 30, maxFiles: 100_000 })
   * ```
   */
  async setQuota(
    name: string,
    { maxBytes, maxFiles, ...options }: QuotaOptions,
  ): Promise<WorkspaceInfo> {
    const what = `limit the workspace ${name}`
    const path = `/workspaces/${encodeSegment(name, what)}`
    return this.#connection.json<WorkspaceInfo>(
      { what, method: 'PATCH', path, ...jsonBody({ maxBytes, maxFiles }) },
      options,
    )
  }

  /**
   * Gives a workspace another name. Mounts and tokens go on; `workspace_exists` when the name is taken.
   *
   * @example
   * ```ts
   * await cairn.workspaces.rename('website', 'shop')
   * ```
   */
  async rename(name: string, to: string, options: RequestOptions = {}): Promise<WorkspaceInfo> {
    const what = `rename the workspace ${name} to ${to}`
    const path = `/workspaces/${encodeSegment(name, what)}`
    return this.#connection.json<WorkspaceInfo>(
      { what, method: 'PATCH', path, ...jsonBody({ name: to }) },
      options,
    )
  }

  /**
   * Deletes a workspace, with all its files and history. It can be restored until `expiresAt`.
   *
   * @example
   * ```ts
   * const { expiresAt, forks } = await cairn.workspaces.delete('website')
   * ```
   */
  async delete(name: string, options: RequestOptions = {}): Promise<WorkspaceDeletion> {
    const what = `remove the workspace ${name}`
    const path = `/workspaces/${encodeSegment(name, what)}`
    return this.#connection.json<WorkspaceDeletion>({ what, method: 'DELETE', path }, options)
  }

  /**
   * The workspaces that can be restored, read page by page.
   *
   * @example
   * ```ts
   * for await (const { name, expiresAt } of cairn.workspaces.listDeleted()) console.log(name, expiresAt)
   * ```
   */
  async *listDeleted(options: PageOptions = {}): AsyncIterable<DeletedWorkspace> {
    const what = 'list deleted workspaces'
    const call = { what, method: 'GET', path: '/workspaces', query: { deleted: '' } } as const
    yield* readPages<DeletedWorkspace>(this.#connection, call, options)
  }

  /**
   * Brings a deleted workspace back with its files, history, layers and tokens. `name` is its id, or the name it had; of
   * several, the one that was deleted last. `workspace_missing` when its time is over.
   *
   * @example
   * ```ts
   * await cairn.workspaces.restore('website')
   * ```
   */
  async restore(name: string, { as, ...options }: RestoreOptions = {}): Promise<WorkspaceInfo> {
    const what = `restore the workspace ${name}`
    const path = `/workspaces/${encodeSegment(name, what)}/restore`
    return this.#connection.json<WorkspaceInfo>(
      { what, method: 'POST', path, ...jsonBody({ name: as }) },
      options,
    )
  }
}
