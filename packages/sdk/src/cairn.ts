import type { CollectReport, RotationReport, ServerStatus } from '@cairn/protocol'
import { type RetryClock, systemClock } from './client/clock.ts'
import { Connection } from './client/connection.ts'
import type { RequestOptions } from './client/deadline.ts'
import { CairnError } from './client/error.ts'
import { Keys } from './keys/keys.ts'
import { Workspace, type WorkspaceOptions } from './workspace.ts'
import { Workspaces } from './workspaces.ts'

export interface CairnOptions {
  /** `https://cairn.example.org`, with a path if the server is behind one. */
  readonly server: string
  readonly apiKey: string
  /** The runtime's own unless given. */
  readonly fetch?: typeof fetch | undefined
  /** For calls that give none themselves: how long each may take, all attempts together. Unlimited unless given. */
  readonly timeoutMs?: number | undefined
  /** The call of an agent's tool that this is for: logs and audits name it. */
  readonly toolCall?: string | undefined
  /** For tests: time and chance. */
  readonly clock?: RetryClock | undefined
}

export interface CollectOptions extends RequestOptions {
  /** Only tell. */
  readonly dryRun?: boolean | undefined
}

/**
 * A Cairn server, as one key sees it. Calls that fail in passing (the network, 429, 502, 503, 504) are tried again up
 * to four times; a change carries an idempotency key, so that it happens once however often it is sent.
 *
 * @example
 * ```ts
 * const cairn = new Cairn({ server: 'http://127.0.0.1:7070', apiKey })
 * const website = cairn.workspace('website')
 * await website.files.write('/index.html', '<h1>Hello</h1>')
 * ```
 */
export class Cairn {
  readonly workspaces: Workspaces
  /** Only for an owner key. */
  readonly keys: Keys
  readonly #connection: Connection

  constructor({
    server,
    apiKey,
    fetch = globalThis.fetch,
    timeoutMs,
    toolCall,
    clock = systemClock,
  }: CairnOptions) {
    this.#connection = new Connection({
      server: parseServer(server),
      apiKey: parseKey(apiKey),
      // Browsers refuse a fetch that is called as a method of something else.
      fetch: (input, init) => fetch(input, init),
      clock,
      timeoutMs,
      toolCall,
    })
    this.workspaces = new Workspaces(this.#connection)
    this.keys = new Keys(this.#connection)
  }

  /**
   * A handle of a workspace, by name or id, on its `main` branch unless told otherwise.
   *
   * @example
   * ```ts
   * const attempt = cairn.workspace('website', { branch: 'attempt-a' })
   * ```
   */
  workspace(name: string, options: WorkspaceOptions = {}): Workspace {
    return new Workspace(this.#connection, name, options)
  }

  /**
   * Makes the server delete unreachable data, beside its writers. The server also does so by
   * itself, several times a day. With `dryRun` it only reports what it would delete.
   *
   * @example
   * ```ts
   * const { removed } = await cairn.collectGarbage({ dryRun: true })
   * ```
   */
  collectGarbage({ dryRun = false, ...options }: CollectOptions = {}): Promise<CollectReport> {
    const query = { dryRun: String(dryRun) }
    const call = { what: 'collect garbage', method: 'POST', path: '/server/gc', query } as const
    return this.#connection.json<CollectReport>(call, options)
  }

  /**
   * What the server that answers keeps beside its stores: the size of its index of searches, and how many files it has yet
   * to look at. Of several servers, each has its own.
   *
   * @example
   * ```ts
   * const { search } = await cairn.serverStatus()
   * ```
   */
  serverStatus(options: RequestOptions = {}): Promise<ServerStatus> {
    const what = 'read the status of the server'
    const call = { what, method: 'GET', path: '/server/status' } as const
    return this.#connection.json<ServerStatus>(call, options)
  }

  /**
   * Makes the server use its next master key and wrap every workspace's key with it, beside all
   * readers and writers. If you keep the list of keys yourself, put the new one on top on every
   * server first.
   *
   * @example
   * ```ts
   * const { rewrapped, left } = await cairn.rotateMasterKey()
   * ```
   */
  rotateMasterKey(options: RequestOptions = {}): Promise<RotationReport> {
    const path = '/server/rotate-master-key'
    const call = { what: 'rotate the master key', method: 'POST', path, repeatable: true } as const
    return this.#connection.json<RotationReport>(call, options)
  }
}

function parseServer(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined
  const isUsable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === ''
  if (isUsable && url.search === '' && url.hash === '') return url.href.replace(/\/+$/, '')
  throw new CairnError('invalid_argument', {
    what: 'use the server',
    reason: `'${server}' is not an http or https address`,
    hint: 'Give something like https://cairn.example.org.',
  })
}

function parseKey(apiKey: string): string {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey
  throw new CairnError('invalid_argument', {
    what: 'use the API key',
    reason: apiKey === '' ? 'it is empty' : 'it has blanks or characters that are not ASCII',
    hint: 'Give the key as it was issued.',
  })
}
