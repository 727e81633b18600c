import {
  checkJournal,
  type HashedEntry,
  type JournalInfo,
  journalLines,
  type JournalReceipt,
  type JournalVerdict,
  type JournalWitness,
  type NewJournalEntry,
} from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { encodeSegment } from '../client/path.ts'
import { jsonBody } from '../client/request.ts'
import { type PageOptions, readPages } from '../files/list.ts'
import type { ChangeOptions } from '../layers/options.ts'
import { followEntries } from './follow.ts'
import { webCrypto } from './web-crypto.ts'

export interface NewJournalOptions extends ChangeOptions {
  readonly title?: string | undefined
  readonly kind?: string | undefined
  readonly meta?: Readonly<Record<string, string>> | undefined
}

export interface ReadEntriesOptions extends PageOptions {
  /** Only what came after this number. */
  readonly after?: number | undefined
}

export interface FollowOptions extends RequestOptions {
  /** Entries after this number come first, then new ones. Only new ones unless given. */
  readonly after?: number | undefined
}

export interface FindEntriesOptions extends PageOptions {
  readonly journal?: string | undefined
  readonly type?: string | undefined
  /** The journal's kind. */
  readonly kind?: string | undefined
  /** `key=value`, of the journal. */
  readonly meta?: string | undefined
  /** Who did it or told it. */
  readonly actor?: string | undefined
  readonly status?: string | undefined
  readonly subject?: string | undefined
  /** `key=value` */
  readonly label?: string | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
}

export interface SealOptions extends ChangeOptions {
  readonly reason?: string | undefined
}

/** Journals of a workspace: what agents and workflows told, in a chain under a signed head. */
export class Journals {
  readonly #connection: Connection
  readonly #base: string

  /** `base` is `/workspaces/NAME`, encoded. */
  constructor(connection: Connection, base: string) {
    this.#connection = connection
    this.#base = base
  }

  /**
   * Begins a journal. The same again gives the one that is there; other words under its id are `journal_exists`.
   *
   * @example
   * ```ts
   * await workspace.journals.create('run-42', { title: 'run 42', kind: 'test-run' })
   * ```
   */
  create(id: string | undefined, options: NewJournalOptions = {}): Promise<JournalInfo> {
    const { title, kind, meta, idempotencyKey, ...request } = options
    const what = `begin the journal ${id ?? ''}`.trim()
    return this.#post(
      what,
      `${this.#base}/journals`,
      { id, title, kind, meta },
      idempotencyKey,
      request,
    )
  }

  /**
   * Appends entries, all or none, once: sent again under the same key, they are not appended again.
   *
   * @example
   * ```ts
   * await workspace.journals.append('run-42', [{ type: 'tool.call.completed', summary: { tool: 'pytest' } }])
   * ```
   */
  append(
    id: string,
    entries: readonly NewJournalEntry[],
    { idempotencyKey, ...options }: ChangeOptions = {},
  ): Promise<JournalReceipt> {
    const what = `append to the journal ${id}`
    return this.#post(what, this.#path(id, what, '/entries'), { entries }, idempotencyKey, options)
  }

  /**
   * Ends a journal for good.
   *
   * @example
   * ```ts
   * await workspace.journals.seal('run-42', { reason: 'the run is over' })
   * ```
   */
  seal(
    id: string,
    { reason, idempotencyKey, ...options }: SealOptions = {},
  ): Promise<JournalReceipt> {
    const what = `seal the journal ${id}`
    return this.#post(what, this.#path(id, what, '/seal'), { reason }, idempotencyKey, options)
  }

  /**
   * What a journal began with, and where it stands, signed.
   *
   * @example
   * ```ts
   * const { publicKey, head } = await workspace.journals.get('run-42')
   * ```
   */
  get(id: string, options: RequestOptions = {}): Promise<JournalInfo> {
    const what = `look up the journal ${id}`
    const call = { what, method: 'GET', path: this.#path(id, what) } as const
    return this.#connection.json<JournalInfo>(call, options)
  }

  /**
   * Journals by id, read page by page.
   *
   * @example
   * ```ts
   * for await (const { journal, title } of workspace.journals.list()) console.log(journal, title)
   * ```
   */
  async *list(options: PageOptions = {}): AsyncIterable<JournalInfo> {
    const call = { what: 'list journals', method: 'GET', path: `${this.#base}/journals` } as const
    yield* readPages<JournalInfo>(this.#connection, call, options)
  }

  /**
   * The entries that are there, oldest first, read page by page.
   *
   * @example
   * ```ts
   * for await (const { seq, type, summary } of workspace.journals.read('run-42')) console.log(seq, type, summary)
   * ```
   */
  async *read(id: string, options: ReadEntriesOptions = {}): AsyncIterable<HashedEntry> {
    const { after = 0, ...paging } = options
    const what = `read the journal ${id}`
    const path = this.#path(id, what, '/entries')
    yield* readPages<HashedEntry>(
      this.#connection,
      { what, method: 'GET', path },
      paging,
      `${after}`,
    )
  }

  /**
   * Entries as they come, each once and in order, over however many connections. Ends when the journal is sealed.
   *
   * @example
   * ```ts
   * for await (const { type } of workspace.journals.follow('run-42', { after: 0 })) console.log(type)
   * ```
   */
  async *follow(id: string, options: FollowOptions = {}): AsyncIterable<HashedEntry> {
    const what = `follow the journal ${id}`
    const path = this.#path(id, what, '/events')
    yield* followEntries(this.#connection, { what, method: 'GET', path }, options)
  }

  /**
   * Entries of all journals, in the order of time.
   *
   * @example
   * ```ts
   * for await (const { journal, seq } of workspace.journals.find({ type: 'deploy', status: 'failed' })) show(journal, seq)
   * ```
   */
  async *find(options: FindEntriesOptions = {}): AsyncIterable<HashedEntry> {
    const { signal, timeoutMs, pageSize, since, until, ...filter } = options
    const query = { ...filter, since: since?.toISOString(), until: until?.toISOString() }
    const path = `${this.#base}/journal-entries`
    const call = { what: 'find entries', method: 'GET', path, query } as const
    yield* readPages<HashedEntry>(this.#connection, call, { signal, timeoutMs, pageSize })
  }

  /**
   * All of a journal in lines of canonical JSON, with the public key and the signed head: what `checkJournal` takes.
   *
   * @example
   * ```ts
   * for await (const bytes of workspace.journals.export('run-42')) file.write(bytes)
   * ```
   */
  async *export(id: string, options: RequestOptions = {}): AsyncIterable<Uint8Array> {
    const what = `export the journal ${id}`
    const path = this.#path(id, what, '/export')
    const answer = await this.#connection.open({ what, method: 'GET', path }, options)
    try {
      for (let bytes = await answer.next(); bytes; bytes = await answer.next()) yield bytes
    } finally {
      answer.cancel()
    }
  }

  /**
   * Checks a journal here, from its first entry to its signed head: the server's word is not taken for it.
   *
   * @example
   * ```ts
   * const { entries, head } = await workspace.journals.verify('run-42', { publicKey })
   * ```
   */
  verify(
    id: string,
    { publicKey, receipt, ...options }: JournalWitness & RequestOptions = {},
  ): Promise<JournalVerdict> {
    return verifyJournal(this.export(id, options), { publicKey, receipt })
  }

  /**
   * The same check by the server, on what it has stored: columns beside the entries too.
   *
   * @example
   * ```ts
   * const { entries } = await workspace.journals.verifyStored('run-42')
   * ```
   */
  verifyStored(id: string, options: RequestOptions = {}): Promise<JournalVerdict> {
    const what = `verify the journal ${id}`
    const path = this.#path(id, what, '/verify')
    return this.#connection.json<JournalVerdict>({ what, method: 'GET', path }, options)
  }

  #path(id: string, what: string, rest = ''): string {
    return `${this.#base}/journals/${encodeSegment(id, what)}${rest}`
  }

  #post<T>(
    what: string,
    path: string,
    value: object,
    idempotencyKey: string | undefined,
    options: RequestOptions,
  ): Promise<T> {
    const { body, headers } = jsonBody(value)
    const call = { what, method: 'POST', path, body } as const
    return this.#connection.json<T>(
      { ...call, headers: { ...headers, 'idempotency-key': idempotencyKey } },
      options,
    )
  }
}

/**
 * Checks the export of a journal, without any server. Rejects with `chain_broken` for whatever is not as it was signed.
 *
 * @example
 * ```ts
 * const { entries } = await verifyJournal(createReadStream('run-42.jsonl'), { publicKey })
 * ```
 */
export function verifyJournal(
  bytes: AsyncIterable<Uint8Array>,
  witness: JournalWitness = {},
): Promise<JournalVerdict> {
  return checkJournal(journalLines(bytes), webCrypto, witness)
}
