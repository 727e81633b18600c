import type { Dialect } from './dialect.ts'

export function journalTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    // The head's signature is stored for the newest head alone: with an older one beside it, a
    // truncated journal could pass.
    `CREATE TABLE IF NOT EXISTS journals (
      workspace ${key} NOT NULL,
      id ${key} NOT NULL,
      header ${bytes} NOT NULL,
      created_at ${key} NOT NULL,
      head ${bytes} NOT NULL,
      signature ${key} NOT NULL,
      last_seq ${integer} NOT NULL,
      PRIMARY KEY (workspace, id),
      UNIQUE (workspace, created_at, id)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS journal_entries (
      workspace ${key} NOT NULL,
      journal ${key} NOT NULL,
      seq ${integer} NOT NULL,
      time ${key} NOT NULL,
      entry ${bytes} NOT NULL,
      PRIMARY KEY (workspace, journal, seq),
      UNIQUE (workspace, time, journal, seq)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS journal_requests (
      workspace ${key} NOT NULL,
      journal ${key} NOT NULL,
      request ${key} NOT NULL,
      request_hash ${key} NOT NULL,
      first_seq ${integer} NOT NULL,
      last_seq ${integer} NOT NULL,
      PRIMARY KEY (workspace, journal, request)
    ) ${tableEnd}`,
    // The private half is wrapped by the workspace's key.
    `CREATE TABLE IF NOT EXISTS journal_keys (
      workspace ${key} NOT NULL PRIMARY KEY,
      public_key ${key} NOT NULL,
      wrapped ${bytes} NOT NULL
    ) ${tableEnd}`,
  ]
}
