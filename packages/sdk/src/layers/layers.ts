import type {
  CheckpointInfo,
  CommitReceipt,
  LayerChange,
  LayerInfo,
  LayerStatus,
  Page,
  PickReceipt,
  ResolveReceipt,
  RootReceipt,
} from '@cairn/protocol'
import { collect } from '../client/answer.ts'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { encodeSegment } from '../client/path.ts'
import { type ApiCall, jsonBody } from '../client/request.ts'
import { type PageOptions, readPages } from '../files/list.ts'
import { type LayerEvent, watchAllEvents, type WatchOptions } from '../files/watch.ts'
import type {
  ChangeOptions,
  CheckpointOptions,
  CommitOptions,
  CreateLayerOptions,
  DiffOptions,
  ForkLayerOptions,
  ListLayersOptions,
  MergeOptions,
  PickOptions,
  ResolveChoice,
  RollbackOptions,
  UpdateLayerOptions,
} from './options.ts'

/**
 * Attempts at a path of a workspace, each on a frozen base of its own. A layer is referred to by id, name, tag
 * (`agent=a`) or the label of one of its checkpoints; what several answer to is `reference_ambiguous`.
 */
export class Layers {
  readonly #connection: Connection
  readonly #base: string
  readonly #events: string

  /** `base` is `/workspaces/NAME`, encoded. */
  constructor(connection: Connection, base: string) {
    this.#connection = connection
    this.#base = `${base}/layers`
    this.#events = `${base}/events`
  }

  /**
   * Freezes a directory and opens a layer on it, in constant time. Its files: `workspace.layer(id).files`.
   *
   * @example
   * ```ts
   * await workspace.layers.create('/repo', { name: 'fix-auth-a', tags: { agent: 'a' } })
   * ```
   */
  create(path: string, options: CreateLayerOptions = {}): Promise<LayerInfo> {
    const { signal, timeoutMs, idempotencyKey, ...wishes } = options
    const request = { signal, timeoutMs, idempotencyKey }
    const body = { path, ...wishes }
    return this.#post(`make a layer of ${path}`, '', body, request)
  }

  /**
   * A layer on a layer: its commit goes there.
   *
   * @example
   * ```ts
   * await workspace.layers.fork('plan', { name: 'plan-step-1' })
   * ```
   */
  fork(layer: string, options: ForkLayerOptions = {}): Promise<LayerInfo> {
    const { signal, timeoutMs, idempotencyKey, ...wishes } = options
    const request = { signal, timeoutMs, idempotencyKey }
    const body = { ...wishes, parent: layer }
    return this.#post(`fork the layer ${layer}`, '', body, request)
  }

  /**
   * Layers in the order in which they were made, read page by page.
   *
   * @example
   * ```ts
   * for await (const { id, state } of workspace.layers.list({ tag: 'task=auth' })) console.log(id, state)
   * ```
   */
  async *list({
    tag,
    state,
    parent,
    ...options
  }: ListLayersOptions = {}): AsyncIterable<LayerInfo> {
    const query = { tag, state, parent }
    const call = { what: 'list layers', method: 'GET', path: this.#base, query } as const
    yield* readPages<LayerInfo>(this.#connection, call, options)
  }

  /**
   * What a layer changed, what a commit would find, and which of its paths others changed too.
   *
   * @example
   * ```ts
   * const { conflicts, overlaps } = await workspace.layers.status('fix-auth-a')
   * ```
   */
  status(layer: string, options: RequestOptions = {}): Promise<LayerStatus> {
    return this.#get(`look at the layer ${layer}`, layer, '', options)
  }

  /**
   * What happens in a layer as it happens, and a warning (`radar`) when its parent or a sibling changed a path that the
   * layer has changed too.
   *
   * @example
   * ```ts
   * for await (const event of workspace.layers.watch('fix-auth-a'))
   *   if (event.type === 'radar') console.log(event.overlaps)
   * ```
   */
  async *watch(layer: string, options: WatchOptions = {}): AsyncIterable<LayerEvent> {
    const query = { layer, radar: true }
    const call = {
      what: `watch the layer ${layer}`,
      method: 'GET',
      path: this.#events,
      query,
    } as const
    yield* watchAllEvents(this.#connection, call, options)
  }

  /**
   * The layers a layer stands on, that nearest to `main` first, itself last.
   *
   * @example
   * ```ts
   * const [outermost] = await workspace.layers.chain('plan-step-1')
   * ```
   */
  async chain(layer: string, options: RequestOptions = {}): Promise<readonly LayerInfo[]> {
    const what = `follow the layer ${layer}`
    return (await this.#get<Page<LayerInfo>>(what, layer, '/chain', options)).items
  }

  /**
   * Renames a layer, sets and takes away tags and quotas, or words its message anew.
   *
   * @example
   * ```ts
   * await workspace.layers.update('fix-auth-a', { tags: { verdict: 'good', draft: null } })
   * ```
   */
  update(layer: string, options: UpdateLayerOptions): Promise<LayerInfo> {
    const { signal, timeoutMs, idempotencyKey, ...edit } = options
    const request = { signal, timeoutMs, idempotencyKey }
    const what = `change the layer ${layer}`
    const call = { what, method: 'PATCH', path: this.#path(layer, what) } as const
    return this.#send({ ...call, ...jsonBody(edit) }, request)
  }

  /**
   * Takes a layer away, with `cascade` those made from it too. Gives their ids.
   *
   * @example
   * ```ts
   * await workspace.layers.delete('fix-auth-b', { cascade: true })
   * ```
   */
  async delete(
    layer: string,
    { cascade, ...options }: ChangeOptions & { readonly cascade?: boolean | undefined } = {},
  ): Promise<readonly string[]> {
    const what = `delete the layer ${layer}`
    const call = { what, method: 'DELETE', path: this.#path(layer, what), query: { cascade } }
    return (await this.#send<{ deleted: readonly string[] }>(call as ApiCall, options)).deleted
  }

  /**
   * Gives a layer up. Nothing of it is lost until it is deleted: `reopen` brings it back.
   *
   * @example
   * ```ts
   * await workspace.layers.abandon('fix-auth-b')
   * ```
   */
  abandon(layer: string, options: ChangeOptions = {}): Promise<LayerInfo> {
    return this.#on(`abandon the layer ${layer}`, layer, '/abandon', {}, options)
  }

  /**
   * Opens an abandoned layer for writing again.
   *
   * @example
   * ```ts
   * await workspace.layers.reopen('fix-auth-b')
   * ```
   */
  reopen(layer: string, options: ChangeOptions = {}): Promise<LayerInfo> {
    return this.#on(`reopen the layer ${layer}`, layer, '/reopen', {}, options)
  }

  /**
   * Names the layer as it is, with every write that any of its sessions had acknowledged before the call.
   *
   * @example
   * ```ts
   * await workspace.layers.checkpoint('fix-auth-a', { label: 'tests-pass' })
   * ```
   */
  checkpoint(layer: string, options: CheckpointOptions = {}): Promise<CheckpointInfo> {
    const { id, label, toolCall, ...request } = options
    const what = `make a checkpoint of the layer ${layer}`
    return this.#on(what, layer, '/checkpoints', { id, label, toolCall }, request)
  }

  /**
   * The checkpoints of a layer, oldest first.
   *
   * @example
   * ```ts
   * for await (const { id, label } of workspace.layers.checkpoints('fix-auth-a')) console.log(id, label)
   * ```
   */
  async *checkpoints(layer: string, options: PageOptions = {}): AsyncIterable<CheckpointInfo> {
    const what = `list the checkpoints of the layer ${layer}`
    const path = `${this.#path(layer, what)}/checkpoints`
    yield* readPages<CheckpointInfo>(this.#connection, { what, method: 'GET', path }, options)
  }

  /**
   * Forgets a checkpoint; the layer stays as it is.
   *
   * @example
   * ```ts
   * await workspace.layers.deleteCheckpoint('fix-auth-a', 'tests-pass')
   * ```
   */
  async deleteCheckpoint(
    layer: string,
    checkpoint: string,
    options: ChangeOptions = {},
  ): Promise<void> {
    const what = `delete the checkpoint ${checkpoint}`
    const path = `${this.#path(layer, what)}/checkpoints/${encodeSegment(checkpoint, what)}`
    await this.#connection.nothing(keyed({ what, method: 'DELETE', path }, options), options)
  }

  /**
   * Puts a layer back to a checkpoint (by id, label or tool call), or to its base. Live mounts see it at once, and
   * `undo` takes it back.
   *
   * @example
   * ```ts
   * await workspace.layers.rollback('fix-auth-a', { to: 'tests-pass' })
   * ```
   */
  rollback(
    layer: string,
    { to, beforeToolCall, ...options }: RollbackOptions = {},
  ): Promise<RootReceipt> {
    return this.#on(
      `roll the layer ${layer} back`,
      layer,
      '/rollback',
      { to, beforeToolCall },
      options,
    )
  }

  /**
   * Takes back a rollback, unless something was written since.
   *
   * @example
   * ```ts
   * await workspace.layers.undo('fix-auth-a')
   * ```
   */
  undo(layer: string, options: ChangeOptions = {}): Promise<RootReceipt> {
    return this.#on(`undo the rollback of the layer ${layer}`, layer, '/undo', {}, options)
  }

  /**
   * Puts a layer's changes on top of what its parent is now. `layer_conflict` lists what stands in the way.
   *
   * @example
   * ```ts
   * await workspace.layers.rebase('fix-auth-b')
   * ```
   */
  rebase(layer: string, options: MergeOptions = {}): Promise<RootReceipt> {
    const { merge, message, ...request } = options
    return this.#on(`rebase the layer ${layer}`, layer, '/rebase', { merge, message }, request)
  }

  /**
   * Decides the conflicts at a path, which may be relative to the layer's own. The next commit or rebase goes by it.
   *
   * @example
   * ```ts
   * await workspace.layers.resolve('fix-auth-b', 'src/auth.ts', { content: merged })
   * ```
   */
  resolve(
    layer: string,
    path: string,
    choice: ResolveChoice,
    options: ChangeOptions = {},
  ): Promise<ResolveReceipt> {
    const what = `resolve ${path} in the layer ${layer}`
    return this.#on(what, layer, '/resolve', { path, ...choiceBody(choice) }, options)
  }

  /**
   * Applies a layer's changes to its parent, all or nothing. On `layer_conflict` the parent is as it was, and the
   * error's `conflicts` tell every path.
   *
   * @example
   * ```ts
   * const { paths, after } = await workspace.layers.commit('fix-auth-a', { message: 'tokens expire' })
   * ```
   */
  commit(layer: string, options: CommitOptions = {}): Promise<CommitReceipt> {
    const { message, merge, dryRun, checkpoint, ...request } = options
    const body = { message, merge, dryRun, checkpoint }
    return this.#on(`commit the layer ${layer}`, layer, '/commit', body, request)
  }

  /**
   * Commits one of several attempts and abandons the others: those of the same parent, path and base. With `dryRun` it
   * only tells which they are.
   *
   * @example
   * ```ts
   * const { abandoned } = await workspace.layers.pick('fix-auth-a')
   * ```
   */
  pick(layer: string, options: PickOptions = {}): Promise<PickReceipt> {
    const { merge, message, dryRun, ...request } = options
    return this.#on(`pick the layer ${layer}`, layer, '/pick', { merge, message, dryRun }, request)
  }

  /**
   * The paths that differ between two points. With `stat`, text files have their numbers of lines.
   *
   * @example
   * ```ts
   * const changes = await workspace.layers.diff('fix-auth-a', { from: 'tests-pass', stat: true })
   * ```
   */
  async diff(
    layer: string,
    { stat, from, to, path, ...options }: DiffOptions & { readonly stat?: boolean } = {},
  ): Promise<readonly LayerChange[]> {
    const query = { from, to, path, stat }
    const what = `compare the layer ${layer}`
    return (await this.#get<Page<LayerChange>>(what, layer, '/diff', options, query)).items
  }

  /**
   * The same as a unified diff, which `git apply` takes.
   *
   * @example
   * ```ts
   * console.log(await workspace.layers.patch('fix-auth-a'))
   * ```
   */
  async patch(layer: string, { from, to, path, ...options }: DiffOptions = {}): Promise<string> {
    const what = `compare the layer ${layer}`
    const query = { from, to, path, patch: true }
    const call = { what, method: 'GET', path: `${this.#path(layer, what)}/diff`, query } as const
    return new TextDecoder().decode(await collect(await this.#connection.open(call, options)))
  }

  #path(layer: string, what: string): string {
    return `${this.#base}/${encodeSegment(layer, what)}`
  }

  #get<T>(
    what: string,
    layer: string,
    rest: string,
    options: RequestOptions,
    query: ApiCall['query'] = {},
  ): Promise<T> {
    const path = this.#path(layer, what) + rest
    return this.#connection.json<T>({ what, method: 'GET', path, query }, options)
  }

  #on<T>(
    what: string,
    layer: string,
    rest: string,
    body: object,
    options: ChangeOptions,
  ): Promise<T> {
    const path = this.#path(layer, what) + rest
    return this.#send({ what, method: 'POST', path, ...jsonBody(body) }, options)
  }

  #post<T>(what: string, rest: string, body: object, options: ChangeOptions): Promise<T> {
    const path = this.#base + rest
    return this.#send({ what, method: 'POST', path, ...jsonBody(body) }, options)
  }

  #send<T>(call: ApiCall, options: ChangeOptions): Promise<T> {
    return this.#connection.json<T>(keyed(call, options), options)
  }
}

function keyed(call: ApiCall, { idempotencyKey }: ChangeOptions): ApiCall {
  return { ...call, headers: { ...call.headers, 'idempotency-key': idempotencyKey } }
}

function choiceBody(choice: ResolveChoice): object {
  if (typeof choice === 'string') return { take: choice }
  const { content } = choice
  if (typeof content === 'string') return { take: 'content', text: content }
  return { take: 'content', base64: encodeBase64(content) }
}

/** In pieces: the arguments of one call are limited. */
function encodeBase64(bytes: Uint8Array): string {
  const piece = 8192
  let text = ''
  for (let at = 0; at < bytes.length; at += piece)
    text += String.fromCharCode(...bytes.subarray(at, at + piece))
  return btoa(text)
}
