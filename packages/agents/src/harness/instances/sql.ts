/** A SQL database as the store of instances needs it: one statement at a time, each of them atomic. */
export interface Sql {
  query(sql: string, params: readonly SqlParameter[]): Promise<readonly StoredRow[]>
  /** How many rows its WHERE found. Rejects with KeyTaken where an INSERT meets a key that is there. */
  execute(sql: string, params: readonly SqlParameter[]): Promise<number>
  close(): Promise<void>
}

/** Text is stored as its bytes: as text, databases take 'a' and 'A' for one key, each in its own way. */
export type SqlParameter = number | Uint8Array
export type StoredRow = Readonly<Record<string, unknown>>

export class KeyTaken extends Error {
  override readonly name = 'KeyTaken'
}
