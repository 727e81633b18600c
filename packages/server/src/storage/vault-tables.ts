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
}

export function openVaultTables(database: Database): VaultTables {
  return {
    workspaceKeys: new WorkspaceKeyTable(database),
    secrets: new VaultTable(database),
    grants: new VaultGrantTable(database),
    audit: new VaultAuditTable(database),
    journals: new JournalTable(database),
  }
}
