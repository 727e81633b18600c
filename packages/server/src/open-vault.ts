import type { RotationReport } from '@cairn/protocol'
import { JournalKeeper } from './journal/journal-keeper.ts'
import { SigningKeys } from './journal/signing-keys.ts'
import type { MasterKeys } from './access/master-key.ts'
import type { Storage } from './storage/open.ts'
import type { VaultAuditTable } from './storage/vault-audit-table.ts'
import type { Clock } from './ports/clock.ts'
import { VaultAudit } from './vault/audit.ts'
import { VaultGrants } from './vault/grants.ts'
import { VaultKeeper } from './vault/vault-keeper.ts'
import { WorkspaceKeys } from './vault/workspace-keys.ts'

/** What the routes of the vault and of journals need: all that hangs from the master key. */
export interface VaultDoor {
  readonly vault: VaultKeeper
  readonly grants: VaultGrants
  readonly audit: VaultAuditTable
  readonly journals: JournalKeeper
  readonly rotate: () => Promise<RotationReport>
}

export function openVaultDoor(
  storage: Pick<Storage, 'vault'>,
  master: MasterKeys,
  clock: Clock,
): VaultDoor {
  const { workspaceKeys, secrets, grants, audit: auditTable, journals } = storage.vault
  const keys = new WorkspaceKeys(workspaceKeys, master)
  const audit = new VaultAudit(auditTable, clock)
  return {
    vault: new VaultKeeper({ table: secrets, keys, audit, clock }),
    grants: new VaultGrants({ table: grants, secrets, keys, audit, clock }),
    audit: auditTable,
    journals: new JournalKeeper({ table: journals, keys: new SigningKeys(journals, keys), clock }),
    rotate: () => keys.rotate(),
  }
}
