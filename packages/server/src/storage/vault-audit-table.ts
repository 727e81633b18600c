import type { VaultAuditEntry, VaultOutcome } from '@cairn/protocol'
import { keyBytes, numberOf, optionalTextOf, textOf } from './columns.ts'
import type { Database, Row, SqlValue, Statement } from './database.ts'
import { insertStatements } from './statements.ts'

export type NewAuditEntry = Omit<VaultAuditEntry, 'id'>

export interface AuditFilter {
  readonly secret?: string
  readonly agent?: string
  readonly actor?: string
  readonly outcome?: VaultOutcome
  /** ISO 8601: then or later, and earlier than the other. */
  readonly since?: string
  readonly until?: string
  /** Only those with a lower id. */
  readonly before?: number
}

const columns = [
  'workspace',
  'time',
  'actor',
  'agent',
  'action',
  'secret',
  'field',
  'version',
  'outcome',
  'tool_call',
  'request_id',
] as const

/** What was done with secrets, and what was refused. Rows are added, never changed. */
export class VaultAuditTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async add(workspace: string, entry: NewAuditEntry): Promise<void> {
    // DURABLE: the note is on disk; the answer may go out.
    await this.#database.transact(this.statements(workspace, entry))
  }

  /** To be written with what the entry is about. */
  statements(workspace: string, entry: NewAuditEntry): Statement[] {
    const { time, actor, agent, action, secret, field, version, outcome } = entry
    const row = [
      ...[workspace, time, actor].map(keyBytes),
      optionalKey(agent),
      keyBytes(action),
      optionalKey(secret),
      optionalKey(field),
      version ?? null,
      keyBytes(outcome),
      optionalKey(entry.toolCall),
      optionalKey(entry.requestId),
    ]
    return insertStatements({ table: 'vault_audit', columns, rows: [row] })
  }

  /** Newest first. */
  async list(
    workspace: string,
    filter: AuditFilter,
    limit: number,
  ): Promise<readonly VaultAuditEntry[]> {
    const { secret, agent, actor, outcome, since, until, before } = filter
    const conditions: [sql: string, value: SqlValue][] = [
      ['workspace = ?', keyBytes(workspace)],
      ...(['secret', 'agent', 'actor', 'outcome'] as const).flatMap((column) =>
        equals(column, { secret, agent, actor, outcome }[column]),
      ),
      ...(since === undefined ? [] : [['time >= ?', keyBytes(since)] as [string, SqlValue]]),
      ...(until === undefined ? [] : [['time < ?', keyBytes(until)] as [string, SqlValue]]),
      ...(before === undefined ? [] : [['id < ?', before] as [string, SqlValue]]),
    ]
    const where = conditions.map(([sql]) => sql).join(' AND ')
    const rows = await this.#database.query(
      `SELECT id, ${columns.join(', ')} FROM vault_audit WHERE ${where} ORDER BY id DESC LIMIT ?`,
      [...conditions.map(([, value]) => value), limit],
    )
    return rows.map(auditEntry)
  }
}

function equals(column: string, value: string | undefined): [string, SqlValue][] {
  return value === undefined ? [] : [[`${column} = ?`, keyBytes(value)]]
}

function optionalKey(text: string | undefined): SqlValue {
  return text === undefined ? null : keyBytes(text)
}

function auditEntry(row: Row): VaultAuditEntry {
  const optional = {
    agent: optionalTextOf(row, 'agent'),
    secret: optionalTextOf(row, 'secret'),
    field: optionalTextOf(row, 'field'),
    version: row['version'] === null ? undefined : numberOf(row, 'version'),
    toolCall: optionalTextOf(row, 'tool_call'),
    requestId: optionalTextOf(row, 'request_id'),
  }
  const known = Object.entries(optional).filter(([, value]) => value !== undefined)
  return {
    id: numberOf(row, 'id'),
    time: textOf(row, 'time'),
    actor: textOf(row, 'actor'),
    action: textOf(row, 'action'),
    outcome: textOf<VaultOutcome>(row, 'outcome'),
    ...(Object.fromEntries(known) as Partial<VaultAuditEntry>),
  }
}
