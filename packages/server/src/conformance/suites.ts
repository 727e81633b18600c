import {
  blobStoreCases,
  casesOn,
  logStoreCases,
  nodeStoreCases,
  refStoreCases,
  type StoreCase,
} from '@cairn/core/conformance'
import { BranchNameTable } from '../storage/branch-name-table.ts'
import type { Database } from '../storage/database.ts'
import { KeyTable } from '../storage/key-table.ts'
import { LayerTable } from '../storage/layer-table.ts'
import { LeaseTable } from '../storage/lease-table.ts'
import { LockTable } from '../storage/lock-table.ts'
import { LogTable } from '../storage/log-table.ts'
import { NodeTable } from '../storage/node-table.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { PlacedBlobs } from '../storage/placed-blobs.ts'
import { RefTable } from '../storage/ref-table.ts'
import { SessionNoteTable } from '../storage/session-note-table.ts'
import { TokenTable } from '../storage/token-table.ts'
import { TraceTable } from '../storage/trace-table.ts'
import { UploadTable } from '../storage/upload-table.ts'
import { WorkspaceTable } from '../storage/workspace-table.ts'
import { branchNameTableCases } from './branch-name-table.ts'
import { databaseCases } from './database.ts'
import { journalCases } from './journal.ts'
import { keyStoreCases } from './key-store.ts'
import { layerStoreCases } from './layer-store.ts'
import { leaseStoreCases } from './lease-store.ts'
import { lockStoreCases } from './lock-store.ts'
import { packCases } from './packs.ts'
import { sessionNoteStoreCases } from './session-note-store.ts'
import { surveyTableCases } from './survey-table.ts'
import { tokenStoreCases } from './token-store.ts'
import { traceStoreCases } from './trace-store.ts'
import { uploadStoreCases } from './upload-store.ts'
import { vaultCases } from './vault.ts'
import { workspaceTableCases } from './workspace-table.ts'

type Cases<Store> = readonly StoreCase<Store>[]

/** Everything that stands on a database alone. It has the schema, and all cases share it. */
export const databaseSuites: Readonly<Record<string, Cases<Database>>> = {
  database: databaseCases,
  log: casesOn(logStoreCases, (database: Database) => new LogTable(database)),
  refs: casesOn(refStoreCases, (database: Database) => new RefTable(database)),
  nodes: casesOn(nodeStoreCases, (database: Database) => new NodeTable(database, 'pool')),
  workspaces: casesOn(workspaceTableCases, (database: Database) => new WorkspaceTable(database)),
  'branch names': casesOn(
    branchNameTableCases,
    (database: Database) => new BranchNameTable(database),
  ),
  layers: casesOn(layerStoreCases, (database: Database) => new LayerTable(database)),
  keys: casesOn(keyStoreCases, (database: Database) => new KeyTable(database)),
  leases: casesOn(leaseStoreCases, (database: Database) => new LeaseTable(database)),
  locks: casesOn(lockStoreCases, (database: Database) => new LockTable(database)),
  'session notes': casesOn(
    sessionNoteStoreCases,
    (database: Database) => new SessionNoteTable(database),
  ),
  packs: packCases,
  survey: surveyTableCases,
  tokens: casesOn(tokenStoreCases, (database: Database) => new TokenTable(database)),
  traces: casesOn(traceStoreCases, (database: Database) => new TraceTable(database)),
  journals: journalCases,
  vault: vaultCases,
  uploads: casesOn(uploadStoreCases, (database: Database) => new UploadTable(database)),
}

export interface BothStores {
  readonly database: Database
  readonly objects: ObjectStore
}

/** Small ones are rows, large ones are objects. */
export const blobCases: Cases<BothStores> = casesOn(
  blobStoreCases,
  ({ database, objects }: BothStores) => new PlacedBlobs(database, objects, 'pool'),
)
