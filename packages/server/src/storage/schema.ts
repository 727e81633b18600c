import type { Dialect } from './dialect.ts'
import { journalTables } from './schema-journal.ts'
import { vaultTables } from './schema-vault.ts'

export interface Migration {
  /** Counts from 1, without gaps. A released one is never edited: what changes is a new one. */
  readonly version: number
  /**
   * Each must bear being run again. MySQL ends a transaction at every change of the schema, so a crash leaves any
   * number of them done; and `IF NOT EXISTS` is there for tables alone. Hence indexes stand inside of CREATE
   * TABLE, and as UNIQUE, the one spelling that all databases share: a primary key at the end makes any index
   * unique.
   */
  readonly statements: (dialect: Dialect) => readonly string[]
  /** Added to tables of earlier versions where they are missing; every row then has NULL there. */
  readonly columns?: readonly AddedColumn[]
}

export interface AddedColumn {
  readonly table: string
  readonly name: string
  readonly type: keyof Dialect['types']
}

export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: (dialect) => [
      ...logTables(dialect),
      ...refTables(dialect),
      ...contentTables(dialect),
      ...ownerTables(dialect),
      ...sessionTables(dialect),
      ...uploadTables(dialect),
    ],
  },
  { version: 2, statements: layerTables },
  { version: 3, statements: lockTables },
  { version: 4, statements: settingTables },
  {
    version: 5,
    statements: blobObjectTables,
    columns: [
      { table: 'nodes', name: 'condemned_ms', type: 'integer' },
      { table: 'blobs', name: 'condemned_ms', type: 'integer' },
      { table: 'layers', name: 'closed_at', type: 'key' },
    ],
  },
  {
    version: 6,
    statements: () => [],
    columns: [{ table: 'log_heads', name: 'trimmed_seq', type: 'integer' }],
  },
  { version: 7, statements: tokenTables },
  { version: 8, statements: (dialect) => [...vaultTables(dialect), ...journalTables(dialect)] },
  {
    version: 9,
    statements: () => [],
    columns: [
      { table: 'branches', name: 'base_seq', type: 'integer' },
      { table: 'branches', name: 'next_bases', type: 'bytes' },
    ],
  },
  {
    version: 10,
    statements: () => [],
    columns: [
      { table: 'leases', name: 'deadline_ms', type: 'integer' },
      { table: 'leases', name: 'last_deadline_ms', type: 'integer' },
    ],
  },
  { version: 11, statements: sessionNoteTables },
  {
    version: 12,
    statements: () => [],
    columns: [{ table: 'answers', name: 'met_ms', type: 'integer' }],
  },
  { version: 13, statements: noteTables },
  { version: 14, statements: keyListTables },
  { version: 15, statements: holdTables },
  {
    version: 16,
    statements: () => [],
    columns: [{ table: 'branches', name: 'first_base', type: 'key' }],
  },
  {
    version: 20,
    statements: () => [],
    columns: [{ table: 'log_rows', name: 'answer', type: 'bytes' }],
  },
  { version: 23, statements: packTables },
  { version: 24, statements: traceTables },
]

/** The last number of a log is a row of its own: raising it is the compare-and-set that lets one writer in. */
function logTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS log_heads (
      branch ${key} NOT NULL PRIMARY KEY,
      last_seq ${integer} NOT NULL
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS log_rows (
      branch ${key} NOT NULL,
      seq ${integer} NOT NULL,
      session ${key} NOT NULL,
      number ${integer} NOT NULL,
      hash ${key} NOT NULL,
      bytes ${bytes} NOT NULL,
      PRIMARY KEY (branch, seq),
      UNIQUE (branch, session, number, seq)
    ) ${tableEnd}`,
  ]
}

function refTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS branches (
      id ${key} NOT NULL PRIMARY KEY,
      parent ${key},
      base_root ${key} NOT NULL,
      base_orphans ${key} NOT NULL,
      folded_root ${key} NOT NULL,
      folded_orphans ${key} NOT NULL,
      folded_seq ${integer} NOT NULL,
      folded_hash ${key} NOT NULL,
      folded_epoch ${integer} NOT NULL,
      folded_state ${key} NOT NULL,
      resolutions ${bytes} NOT NULL,
      version ${integer} NOT NULL
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS checkpoints (
      branch ${key} NOT NULL,
      id ${key} NOT NULL,
      label ${bytes} NOT NULL,
      seq ${integer} NOT NULL,
      root ${key} NOT NULL,
      orphans ${key} NOT NULL,
      time_sec ${integer} NOT NULL,
      time_nsec ${integer} NOT NULL,
      PRIMARY KEY (branch, id)
    ) ${tableEnd}`,
  ]
}

/**
 * Rows in the order in which they came, found through an index by hash. With the hash as primary key MariaDB
 * keeps the rows themselves in that random order: 3k nodes of 4 KiB a second instead of 20k. Packs of many nodes
 * in one row were no faster to write (the index costs the same), and half as fast to read.
 */
function contentTables({ types: { key, bytes, serial }, tableEnd }: Dialect): string[] {
  return ['nodes', 'blobs'].map(
    (table) => `CREATE TABLE IF NOT EXISTS ${table} (
      id ${serial},
      pool ${key} NOT NULL,
      hash ${key} NOT NULL,
      bytes ${bytes} NOT NULL,
      UNIQUE (pool, hash)
    ) ${tableEnd}`,
  )
}

function ownerTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    // The name is NULL once the workspace is deleted: any number of rows may have none.
    `CREATE TABLE IF NOT EXISTS workspaces (
      id ${key} NOT NULL PRIMARY KEY,
      owner ${key} NOT NULL,
      live_name ${key},
      name ${key} NOT NULL,
      pool ${key} NOT NULL,
      main_branch ${key} NOT NULL,
      created_at ${key} NOT NULL,
      deleted_at ${key},
      next_ino ${integer} NOT NULL,
      UNIQUE (owner, live_name)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS branch_names (
      workspace ${key} NOT NULL,
      name ${key} NOT NULL,
      branch ${key} NOT NULL,
      PRIMARY KEY (workspace, name)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS access_keys (
      id ${key} NOT NULL PRIMARY KEY,
      owner ${key} NOT NULL,
      secret_hash ${key} NOT NULL,
      kind ${key} NOT NULL,
      label ${bytes} NOT NULL,
      created_at ${key} NOT NULL,
      revoked_at ${key},
      UNIQUE (secret_hash),
      UNIQUE (owner, id)
    ) ${tableEnd}`,
  ]
}

/** Raised by every change of an owner's keys, so that two servers cannot remove the last two. */
function keyListTables({ types: { key, integer }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS key_lists (
      owner ${key} NOT NULL PRIMARY KEY,
      version ${integer} NOT NULL
    ) ${tableEnd}`,
    // Keys had no names of their own. The first owner key is 'default', in hex because labels are bytes.
    "UPDATE access_keys SET label = X'64656661756C74' WHERE label = X'6F776E6572'",
  ]
}

function sessionTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS leases (
      branch ${key} NOT NULL PRIMARY KEY,
      holder ${key},
      recalled ${integer} NOT NULL,
      writers ${bytes} NOT NULL,
      epoch ${integer} NOT NULL,
      version ${integer} NOT NULL
    ) ${tableEnd}`,
  ]
}

/** How far connected sessions have come in the log, for the other servers. */
function sessionNoteTables({ types: { key, integer }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS session_notes (
      branch ${key} NOT NULL,
      session ${key} NOT NULL,
      server ${key} NOT NULL,
      since_ms ${integer} NOT NULL,
      seen ${integer} NOT NULL,
      asked ${integer} NOT NULL,
      PRIMARY KEY (branch, session)
    ) ${tableEnd}`,
  ]
}

/** Files without a name that sessions have open. */
function holdTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS session_holds (
      branch ${key} NOT NULL,
      session ${key} NOT NULL,
      until_ms ${integer} NOT NULL,
      inos ${bytes} NOT NULL,
      PRIMARY KEY (branch, session)
    ) ${tableEnd}`,
  ]
}

/** What is to be known about sessions and tokens that come back. */
function noteTables({ types: { key, integer }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS holder_notes (
      holder ${key} NOT NULL,
      kind ${key} NOT NULL,
      value ${key} NOT NULL,
      noted_ms ${integer} NOT NULL,
      PRIMARY KEY (holder, kind, value)
    ) ${tableEnd}`,
  ]
}

function uploadTables({ types: { key, integer }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS uploads (
      id ${key} NOT NULL PRIMARY KEY,
      workspace ${key} NOT NULL,
      created_ms ${integer} NOT NULL,
      UNIQUE (workspace, created_ms, id)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS upload_blocks (
      upload ${key} NOT NULL,
      number ${integer} NOT NULL,
      size ${integer} NOT NULL,
      blob_id ${key},
      blob_length ${integer} NOT NULL,
      PRIMARY KEY (upload, number)
    ) ${tableEnd}`,
  ]
}

function layerTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS layers (
      workspace ${key} NOT NULL,
      id ${key} NOT NULL,
      branch ${key} NOT NULL,
      name ${key},
      parent ${key} NOT NULL,
      path ${bytes} NOT NULL,
      tags ${bytes} NOT NULL,
      state ${key} NOT NULL,
      message ${bytes} NOT NULL,
      created_by ${key} NOT NULL,
      created_at ${key} NOT NULL,
      origin_root ${key} NOT NULL,
      origin_seq ${integer} NOT NULL,
      deleted_at ${key},
      version ${integer} NOT NULL,
      PRIMARY KEY (workspace, id),
      UNIQUE (branch),
      UNIQUE (workspace, created_at, id),
      UNIQUE (workspace, parent, id)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS layer_tags (
      workspace ${key} NOT NULL,
      tag ${key} NOT NULL,
      layer ${key} NOT NULL,
      PRIMARY KEY (workspace, layer, tag),
      UNIQUE (workspace, tag, layer)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS checkpoint_labels (
      workspace ${key} NOT NULL,
      branch ${key} NOT NULL,
      id ${key} NOT NULL,
      label ${key} NOT NULL,
      tool_call ${key},
      PRIMARY KEY (branch, id),
      UNIQUE (workspace, label, branch, id)
    ) ${tableEnd}`,
    // What was answered to whom under which key: the same again gets the same again.
    `CREATE TABLE IF NOT EXISTS answers (
      workspace ${key} NOT NULL,
      request ${key} NOT NULL,
      answer ${bytes} NOT NULL,
      PRIMARY KEY (workspace, request)
    ) ${tableEnd}`,
  ]
}

/** Tables of files that have locks; a row goes with its last one. */
function lockTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS file_locks (
      branch ${key} NOT NULL,
      ino ${integer} NOT NULL,
      locks ${bytes} NOT NULL,
      stamp ${integer} NOT NULL,
      PRIMARY KEY (branch, ino)
    ) ${tableEnd}`,
  ]
}

/** Settings of layers, and of whole workspaces under `main`, as JSON. */
function settingTables({ types: { key, bytes }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS settings (
      workspace ${key} NOT NULL,
      layer ${key} NOT NULL,
      settings ${bytes} NOT NULL,
      PRIMARY KEY (workspace, layer)
    ) ${tableEnd}`,
  ]
}

/**
 * Blobs that are objects. The row comes first and gives the object a key that no other ever had: a
 * deletion deletes nothing that another client stores again meanwhile.
 */
function blobObjectTables({ types: { key, integer }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS blob_objects (
      pool ${key} NOT NULL,
      hash ${key} NOT NULL,
      object_key ${key} NOT NULL,
      size ${integer} NOT NULL,
      is_stored ${integer} NOT NULL,
      condemned_ms ${integer},
      PRIMARY KEY (pool, hash),
      UNIQUE (object_key)
    ) ${tableEnd}`,
    // Objects whose row is gone, until they are gone themselves.
    `CREATE TABLE IF NOT EXISTS dead_objects (
      dead_key ${key} NOT NULL PRIMARY KEY
    ) ${tableEnd}`,
  ]
}

/**
 * Blobs that share an object. Its row in `packs` comes first, its blobs' rows once it is stored: so a pack without rows is
 * what its writer did not live to finish, or garbage.
 */
function packTables({ types: { key, integer }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS packs (
      pack_key ${key} NOT NULL PRIMARY KEY,
      pool ${key} NOT NULL,
      size ${integer} NOT NULL,
      is_stored ${integer} NOT NULL,
      met_ms ${integer},
      UNIQUE (pool, pack_key)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS packed_blobs (
      pool ${key} NOT NULL,
      hash ${key} NOT NULL,
      pack_key ${key} NOT NULL,
      at ${integer} NOT NULL,
      size ${integer} NOT NULL,
      condemned_ms ${integer},
      PRIMARY KEY (pool, hash),
      UNIQUE (pack_key, hash, pool)
    ) ${tableEnd}`,
  ]
}

/** What mounts of a directory read in their first seconds, on the branch or on layers of it. */
function traceTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS traces (
      branch ${key} NOT NULL,
      root ${integer} NOT NULL,
      items ${bytes} NOT NULL,
      noted_ms ${integer} NOT NULL,
      PRIMARY KEY (branch, root)
    ) ${tableEnd}`,
  ]
}

/** Nothing in a row opens anything: the hash is of a signature that only the master key can make. */
function tokenTables({ types: { key, integer, bytes }, tableEnd }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS tokens (
      id ${key} NOT NULL PRIMARY KEY,
      owner ${key} NOT NULL,
      workspace ${key} NOT NULL,
      name ${key} NOT NULL,
      caveat ${bytes} NOT NULL,
      signature_hash ${key} NOT NULL,
      issued_by ${key} NOT NULL,
      created_ms ${integer} NOT NULL,
      expires_ms ${integer} NOT NULL,
      revoked_ms ${integer},
      used_bytes ${integer} NOT NULL,
      used_files ${integer} NOT NULL,
      UNIQUE (workspace, id),
      UNIQUE (workspace, name, id)
    ) ${tableEnd}`,
  ]
}
