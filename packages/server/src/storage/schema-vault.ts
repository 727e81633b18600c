import type { Dialect } from './dialect.ts'

/** Nothing in these tables can be read without a master key, but for names, times and who. */
export function vaultTables({
  types: { key, integer, bytes, serial },
  tableEnd,
}: Dialect): string[] {
  return [
    // One for each workspace that has something to keep, wrapped by the master key named beside it.
    `CREATE TABLE IF NOT EXISTS workspace_keys (
      workspace ${key} NOT NULL PRIMARY KEY,
      master_id ${key} NOT NULL,
      wrapped ${bytes} NOT NULL
    ) ${tableEnd}`,
    // The id is another one when a name is used again: versions of the two are never mixed up.
    `CREATE TABLE IF NOT EXISTS vault_secrets (
      workspace ${key} NOT NULL,
      name ${key} NOT NULL,
      id ${key} NOT NULL,
      last_version ${integer} NOT NULL,
      created_at ${key} NOT NULL,
      PRIMARY KEY (workspace, name),
      UNIQUE (id)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS vault_versions (
      secret ${key} NOT NULL,
      version ${integer} NOT NULL,
      request ${key} NOT NULL,
      wrapped_key ${bytes} NOT NULL,
      created_at ${key} NOT NULL,
      created_by ${key} NOT NULL,
      PRIMARY KEY (secret, version),
      UNIQUE (secret, request)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS vault_fields (
      secret ${key} NOT NULL,
      version ${integer} NOT NULL,
      field ${key} NOT NULL,
      sealed ${bytes} NOT NULL,
      PRIMARY KEY (secret, version, field)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS vault_grants (
      id ${key} NOT NULL PRIMARY KEY,
      workspace ${key} NOT NULL,
      owner ${key} NOT NULL,
      agent ${key} NOT NULL,
      scopes ${bytes} NOT NULL,
      permissions ${bytes} NOT NULL,
      secret_hash ${key} NOT NULL,
      created_at ${key} NOT NULL,
      created_by ${key} NOT NULL,
      expires_at ${key} NOT NULL,
      revoked_at ${key},
      UNIQUE (secret_hash),
      UNIQUE (workspace, id)
    ) ${tableEnd}`,
    `CREATE TABLE IF NOT EXISTS vault_audit (
      id ${serial},
      workspace ${key} NOT NULL,
      time ${key} NOT NULL,
      actor ${key} NOT NULL,
      agent ${key},
      action ${key} NOT NULL,
      secret ${key},
      field ${key},
      version ${integer},
      outcome ${key} NOT NULL,
      tool_call ${key},
      request_id ${key},
      UNIQUE (workspace, id)
    ) ${tableEnd}`,
  ]
}
