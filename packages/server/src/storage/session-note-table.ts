import { type BranchId, decodeInos, encodeInos, type SessionId } from '@cairn/protocol'
import type { SessionHold, SessionNote, SessionNoteStore } from '../ports/session-note-store.ts'
import { bytesOf, keyBytes, numberOf, textOf } from './columns.ts'
import type { Database } from './database.ts'
import { insertStatements } from './statements.ts'

const columns = ['branch', 'session', 'server', 'since_ms', 'seen', 'asked'] as const
const holdColumns = ['branch', 'session', 'until_ms', 'inos'] as const

/** Notes about connected sessions, in SQL: one row per session and branch. */
export class SessionNoteTable implements SessionNoteStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(branch: BranchId): Promise<readonly SessionNote[]> {
    const rows = await this.#database.query(
      'SELECT session, server, since_ms, seen, asked FROM session_notes WHERE branch = ?',
      [keyBytes(branch)],
    )
    return rows.map((row) => ({
      session: textOf<SessionId>(row, 'session'),
      server: textOf(row, 'server'),
      sinceMs: numberOf(row, 'since_ms'),
      seen: numberOf(row, 'seen'),
      asked: numberOf(row, 'asked'),
    }))
  }

  async put(
    branch: BranchId,
    { session, server, sinceMs }: Omit<SessionNote, 'seen' | 'asked'>,
  ): Promise<void> {
    const [first, second, ...rest] = columns
    const onTaken = this.#database.dialect.onTaken([first, second], rest)
    const row = [...[branch, session, server].map(keyBytes), sinceMs, 0, 0]
    await this.#database.transact(
      insertStatements({ table: 'session_notes', columns, rows: [row], onTaken }),
    )
  }

  async remove(branch: BranchId, session: SessionId, server: string): Promise<void> {
    const sql = 'DELETE FROM session_notes WHERE branch = ? AND session = ? AND server = ?'
    await this.#database.transact([{ sql, params: [branch, session, server].map(keyBytes) }])
  }

  ask(branch: BranchId, session: SessionId, seq: number): Promise<void> {
    return this.#raise('asked', branch, session, seq)
  }

  tell(branch: BranchId, session: SessionId, seq: number): Promise<void> {
    return this.#raise('seen', branch, session, seq)
  }

  async hold(branch: BranchId, { session, inos, untilMs }: SessionHold): Promise<void> {
    const key = [branch, session].map(keyBytes)
    const sql = 'DELETE FROM session_holds WHERE branch = ? AND session = ?'
    const [first, second, ...rest] = holdColumns
    const onTaken = this.#database.dialect.onTaken([first, second], rest)
    const rows = [[...key, untilMs, encodeInos(inos)]]
    await this.#database.transact(
      inos.length === 0
        ? [{ sql, params: key }]
        : insertStatements({ table: 'session_holds', columns: holdColumns, rows, onTaken }),
    )
  }

  async listHolds(branch: BranchId): Promise<readonly SessionHold[]> {
    const sql = 'SELECT session, until_ms, inos FROM session_holds WHERE branch = ?'
    const rows = await this.#database.query(sql, [keyBytes(branch)])
    return rows.map((row) => ({
      session: textOf<SessionId>(row, 'session'),
      inos: decodeInos(bytesOf(row, 'inos')),
      untilMs: numberOf(row, 'until_ms'),
    }))
  }

  async #raise(
    column: 'asked' | 'seen',
    branch: BranchId,
    session: SessionId,
    seq: number,
  ): Promise<void> {
    const sql = `UPDATE session_notes SET ${column} = ? WHERE branch = ? AND session = ? AND ${column} < ?`
    const params = [seq, keyBytes(branch), keyBytes(session), seq]
    await this.#database.transact([{ sql, params }])
  }
}
