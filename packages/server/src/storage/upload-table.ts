import type { UploadedBlock, UploadStore } from '../ports/upload-store.ts'
import { bytesOf, hashColumn, hashOf, keyBytes, numberOf } from './columns.ts'
import { type Database, type Row, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

const blockColumns = ['upload', 'number', 'size', 'blob_id', 'blob_length'] as const

/** Uploads under way, in SQL. */
export class UploadTable implements UploadStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async create(workspace: string, id: string, createdAtMs: number): Promise<void> {
    const columns = ['id', 'workspace', 'created_ms']
    const rows = [[keyBytes(id), keyBytes(workspace), createdAtMs]]
    await this.#database.transact(insertStatements({ table: 'uploads', columns, rows }))
    // DURABLE: the upload can be gone on with, on any server.
  }

  async exists(workspace: string, id: string): Promise<boolean> {
    const sql = 'SELECT id FROM uploads WHERE id = ? AND workspace = ?'
    return (await this.#database.query(sql, [keyBytes(id), keyBytes(workspace)])).length > 0
  }

  async putBlock(id: string, { number, size, blob }: UploadedBlock): Promise<boolean> {
    const row = [keyBytes(id), number, size, blob ? hashColumn(blob.id) : null, blob?.length ?? 0]
    const onTaken = this.#database.dialect.onTaken(
      ['upload', 'number'],
      ['size', 'blob_id', 'blob_length'],
    )
    const insert = { table: 'upload_blocks', columns: blockColumns, rows: [row], onTaken }
    // Holds the upload in place: a block of one that is removed meanwhile would stay for ever.
    const isThere = {
      sql: 'UPDATE uploads SET created_ms = created_ms WHERE id = ?',
      params: [keyBytes(id)],
      expect: 1,
    }
    // DURABLE: the block need not be sent again.
    return tryTransact(this.#database, [isThere, ...insertStatements(insert)])
  }

  async blocks(id: string): Promise<readonly UploadedBlock[]> {
    const sql = `SELECT ${blockColumns.join(', ')} FROM upload_blocks WHERE upload = ? ORDER BY number`
    return (await this.#database.query(sql, [keyBytes(id)])).map(uploadedBlock)
  }

  async remove(id: string): Promise<void> {
    await this.#database.transact([
      // In the order of putBlock: the other one would be a deadlock.
      { sql: 'DELETE FROM uploads WHERE id = ?', params: [keyBytes(id)] },
      { sql: 'DELETE FROM upload_blocks WHERE upload = ?', params: [keyBytes(id)] },
    ])
  }

  async removeOlder(workspace: string, createdBeforeMs: number): Promise<void> {
    const sql = 'SELECT id FROM uploads WHERE workspace = ? AND created_ms < ?'
    const old = await this.#database.query(sql, [keyBytes(workspace), createdBeforeMs])
    for (const row of old) await this.remove(new TextDecoder().decode(bytesOf(row, 'id')))
  }
}

function uploadedBlock(row: Row): UploadedBlock {
  const hasBlob = row['blob_id'] !== null
  return {
    number: numberOf(row, 'number'),
    size: numberOf(row, 'size'),
    blob: hasBlob
      ? { id: hashOf(row, 'blob_id'), length: numberOf(row, 'blob_length') }
      : undefined,
  }
}
