import { keyBytes } from './columns.ts'
import type { Database } from './database.ts'
import { JournalTable } from './journal-table.ts'
import { VaultAuditTable } from './vault-audit-table.ts'
import { VaultGrantTable } from './vault-grant-table.ts'
import { VaultTable } from './vault-table.ts'
import { WorkspaceKeyTable } from './workspace-key-table.ts'

/** What the vault and journals keep. */
export interface VaultTables {
  readonly workspaceKeys: WorkspaceKeyTable
  readonly secrets: VaultTable
  readonly grants: VaultGrantTable
  readonly audit: VaultAuditTable
  readonly journals: JournalTable
  /** Takes away all that a workspace has here. False when that is nothing. */
  readonly forget: (workspace: string) => Promise<boolean>
}

export function openVaultTables(database: Database): VaultTables {
  return {
    workspaceKeys: new WorkspaceKeyTable(database),
    secrets: new VaultTable(database),
    grants: new VaultGrantTable(database),
    audit: new VaultAuditTable(database),
    journals: new JournalTable(database),
    forget: (workspace) => forget(database, workspace),
  }
}

/** Everything here hangs from the workspace's key: one that has none has nothing. */
async function forget(database: Database, workspace: string): Promise<boolean> {
  const params = [keyBytes(workspace)]
  const own = 'WHERE workspace = ?'
  const [key] = await database.query(`SELECT master_id FROM workspace_keys ${own}`, params)
  if (!key) return false
  const secrets = `WHERE secret IN (SELECT id FROM vault_secrets ${own})`
  const tables = ['vault_grants', 'vault_audit', 'journal_entries', 'journal_requests', 'journals']
  const deletions = [
    `workspace_keys ${own}`,
    `vault_fields ${secrets}`,
    `vault_versions ${secrets}`,
    `vault_secrets ${own}`,
    `journal_keys ${own}`,
    ...tables.map((table) => `${table} ${own}`),
  ]
  // DURABLE: of the workspace's secrets and journals nothing is left.
  await database.transact(deletions.map((what) => ({ sql: `DELETE FROM ${what}`, params })))
  return true
}
