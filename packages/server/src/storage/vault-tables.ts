import type { Database } from './database.ts'
import { VaultAuditTable } from './vault-audit-table.ts'
import { VaultGrantTable } from './vault-grant-table.ts'
import { VaultTable } from './vault-table.ts'
import { WorkspaceKeyTable } from './workspace-key-table.ts'

/** What the vault keeps. */
export interface VaultTables {
  readonly workspaceKeys: WorkspaceKeyTable
  readonly secrets: VaultTable
  readonly grants: VaultGrantTable
  readonly audit: VaultAuditTable
}

export function openVaultTables(database: Database): VaultTables {
  return {
    workspaceKeys: new WorkspaceKeyTable(database),
    secrets: new VaultTable(database),
    grants: new VaultGrantTable(database),
    audit: new VaultAuditTable(database),
  }
}
