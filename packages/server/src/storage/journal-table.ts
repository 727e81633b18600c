import type { Database, Row, SqlValue, Statement } from './database.ts'
import { tryTransact } from './database.ts'
import { bytesOf, keyBytes, numberOf, textBytes, textOf } from './columns.ts'
import { insertStatements } from './statements.ts'

/** Header and head as they were signed: canonical JSON. */
export interface StoredJournal {
  readonly workspace: string
  readonly id: string
  readonly header: string
  readonly createdAt: string
  readonly head: string
  readonly signature: string
  readonly lastSeq: number
}

export interface StoredEntry {
  readonly journal: string
  readonly seq: number
  readonly time: string
  /** Canonical JSON: what the next one's hash is of. */
  readonly entry: string
}

/** Which request made which entries. */
export interface JournalRequest {
  readonly request: string
  readonly requestHash: string
  readonly firstSeq: number
  readonly lastSeq: number
}

export interface StoredJournalKey {
  readonly publicKey: string
  readonly wrapped: Uint8Array
}

const columns = [
  'workspace',
  'id',
  'header',
  'created_at',
  'head',
  'signature',
  'last_seq',
] as const
const entryColumns = ['workspace', 'journal', 'seq', 'time', 'entry'] as const
const requestColumns = [
  'workspace',
  'journal',
  'request',
  'request_hash',
  'first_seq',
  'last_seq',
] as const

/** Journals and their entries. Entries are added, never changed. */
export class JournalTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** False when the id is taken. */
  create(journal: StoredJournal): Promise<boolean> {
    const { workspace, id, header, createdAt, head, signature, lastSeq } = journal
    const row = [
      keyBytes(workspace),
      keyBytes(id),
      textBytes(header),
      keyBytes(createdAt),
      textBytes(head),
      keyBytes(signature),
      lastSeq,
    ]
    // DURABLE: the journal is on disk; entries may follow.
    return tryTransact(
      this.#database,
      insertStatements({ table: 'journals', columns, rows: [row] }),
    )
  }

  async find(workspace: string, id: string): Promise<StoredJournal | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${columns.join(', ')} FROM journals WHERE workspace = ? AND id = ?`,
      [keyBytes(workspace), keyBytes(id)],
    )
    return row && storedJournal(row)
  }

  /** Up to `limit` in the byte order of their ids, after that id. */
  async list(workspace: string, after: string, limit: number): Promise<readonly StoredJournal[]> {
    const rows = await this.#database.query(
      `SELECT ${columns.join(', ')} FROM journals WHERE workspace = ? AND id > ? ORDER BY id LIMIT ?`,
      [keyBytes(workspace), keyBytes(after), limit],
    )
    return rows.map(storedJournal)
  }

  /** All of them or none. False when the journal does not stand where `before` says, or the request was taken. */
  append(
    before: StoredJournal,
    after: Pick<StoredJournal, 'head' | 'signature' | 'lastSeq'>,
    entries: readonly StoredEntry[],
    request: JournalRequest,
  ): Promise<boolean> {
    const key = [keyBytes(before.workspace), keyBytes(before.id)]
    const rows = entries.map(({ seq, time, entry }) => [
      ...key,
      seq,
      keyBytes(time),
      textBytes(entry),
    ])
    // DURABLE: the entries, the head that is signed over them and the request are on disk together.
    return tryTransact(this.#database, [
      {
        sql: 'UPDATE journals SET head = ?, signature = ?, last_seq = ? WHERE workspace = ? AND id = ? AND last_seq = ?',
        params: [
          textBytes(after.head),
          keyBytes(after.signature),
          after.lastSeq,
          ...key,
          before.lastSeq,
        ],
        expect: 1,
      },
      ...insertStatements({ table: 'journal_entries', columns: entryColumns, rows }),
      insertRequest(key, request),
    ])
  }

  async findRequest(
    workspace: string,
    journal: string,
    request: string,
  ): Promise<JournalRequest | undefined> {
    const [row] = await this.#database.query(
      'SELECT request, request_hash, first_seq, last_seq FROM journal_requests WHERE workspace = ? AND journal = ? AND request = ?',
      [workspace, journal, request].map(keyBytes),
    )
    return (
      row && {
        request: textOf(row, 'request'),
        requestHash: textOf(row, 'request_hash'),
        firstSeq: numberOf(row, 'first_seq'),
        lastSeq: numberOf(row, 'last_seq'),
      }
    )
  }

  /** Up to `limit` in order, after that number. */
  async read(
    workspace: string,
    journal: string,
    after: number,
    limit: number,
  ): Promise<readonly StoredEntry[]> {
    const rows = await this.#database.query(
      'SELECT journal, seq, time, entry FROM journal_entries WHERE workspace = ? AND journal = ? AND seq > ? ORDER BY seq LIMIT ?',
      [keyBytes(workspace), keyBytes(journal), after, limit],
    )
    return rows.map(storedEntry)
  }

  /** Up to `limit` of all journals of a workspace, in the order of time, after that place. */
  async scan(
    workspace: string,
    after: Pick<StoredEntry, 'time' | 'journal' | 'seq'>,
    limit: number,
  ): Promise<readonly StoredEntry[]> {
    const { time, journal, seq } = after
    const [at, of] = [keyBytes(time), keyBytes(journal)]
    const params: SqlValue[] = [keyBytes(workspace), at, at, of, at, of, seq, limit]
    const rows = await this.#database.query(
      `SELECT journal, seq, time, entry FROM journal_entries
       WHERE workspace = ? AND (time > ? OR (time = ? AND journal > ?) OR (time = ? AND journal = ? AND seq > ?))
       ORDER BY time, journal, seq LIMIT ?`,
      params,
    )
    return rows.map(storedEntry)
  }

  /** False when the workspace has one. */
  createKey(workspace: string, { publicKey, wrapped }: StoredJournalKey): Promise<boolean> {
    const row = [keyBytes(workspace), keyBytes(publicKey), wrapped]
    const names = ['workspace', 'public_key', 'wrapped']
    // DURABLE: the key is on disk; something may be signed with it.
    return tryTransact(
      this.#database,
      insertStatements({ table: 'journal_keys', columns: names, rows: [row] }),
    )
  }

  async findKey(workspace: string): Promise<StoredJournalKey | undefined> {
    const [row] = await this.#database.query(
      'SELECT public_key, wrapped FROM journal_keys WHERE workspace = ?',
      [keyBytes(workspace)],
    )
    return row && { publicKey: textOf(row, 'public_key'), wrapped: bytesOf(row, 'wrapped') }
  }
}

function insertRequest(key: readonly Uint8Array[], request: JournalRequest): Statement {
  const { requestHash, firstSeq, lastSeq } = request
  const row = [...key, keyBytes(request.request), keyBytes(requestHash), firstSeq, lastSeq]
  const [insert] = insertStatements({
    table: 'journal_requests',
    columns: requestColumns,
    rows: [row],
  })
  return insert!
}

function storedJournal(row: Row): StoredJournal {
  return {
    workspace: textOf(row, 'workspace'),
    id: textOf(row, 'id'),
    header: textOf(row, 'header'),
    createdAt: textOf(row, 'created_at'),
    head: textOf(row, 'head'),
    signature: textOf(row, 'signature'),
    lastSeq: numberOf(row, 'last_seq'),
  }
}

function storedEntry(row: Row): StoredEntry {
  return {
    journal: textOf(row, 'journal'),
    seq: numberOf(row, 'seq'),
    time: textOf(row, 'time'),
    entry: textOf(row, 'entry'),
  }
}
