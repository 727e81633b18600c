import { describe } from 'vitest'
import {
  runBlobStoreTests,
  runLogStoreTests,
  runNodeStoreTests,
  runRefStoreTests,
} from '@cairn/core/testing'
import { BranchNameTable } from '../storage/branch-name-table.ts'
import type { Database } from '../storage/database.ts'
import { KeyTable } from '../storage/key-table.ts'
import { LeaseTable } from '../storage/lease-table.ts'
import { LayerTable } from '../storage/layer-table.ts'
import { LockTable } from '../storage/lock-table.ts'
import { LogTable } from '../storage/log-table.ts'
import { NodeTable } from '../storage/node-table.ts'
import { PlacedBlobs } from '../storage/placed-blobs.ts'
import { RefTable } from '../storage/ref-table.ts'
import { SessionNoteTable } from '../storage/session-note-table.ts'
import { TokenTable } from '../storage/token-table.ts'
import { UploadTable } from '../storage/upload-table.ts'
import { WorkspaceTable } from '../storage/workspace-table.ts'
import { runBranchNameTableTests } from './branch-name-table-tests.ts'
import { runDatabaseTests } from './database-tests.ts'
import { runKeyTableTests } from './key-table-tests.ts'
import { runLeaseStoreTests } from './lease-store-tests.ts'
import { runLayerStoreTests } from './layer-store-tests.ts'
import { runLockStoreTests } from './lock-store-tests.ts'
import { MemoryObjectStore } from './memory-object-store.ts'
import { runSessionNoteStoreTests } from './session-note-store-tests.ts'
import { runSurveyTableTests } from './survey-table-tests.ts'
import { runTokenStoreTests } from './token-store-tests.ts'
import { runUploadStoreTests } from './upload-store-tests.ts'
import { runJournalTests } from './journal-tests.ts'
import { runVaultTests } from './vault-tests.ts'
import { runWorkspaceTableTests } from './workspace-table-tests.ts'

/** Everything that stands on a database, asked on one that has the schema. It is shared by all tests. */
export function runTableTests(database: () => Database): void {
  const on =
    <Store>(open: (database: Database) => Store) =>
    async (): Promise<{ store: Store }> => ({ store: open(database()) })
  const objects = new MemoryObjectStore()

  describe('database', () => runDatabaseTests(on((each) => each)))
  describe('log', () => runLogStoreTests(on((each) => new LogTable(each))))
  describe('refs', () => runRefStoreTests(on((each) => new RefTable(each))))
  describe('nodes', () => runNodeStoreTests(on((each) => new NodeTable(each, 'pool'))))
  describe('blobs', () => runBlobStoreTests(on((each) => new PlacedBlobs(each, objects, 'pool'))))
  describe('workspaces', () => runWorkspaceTableTests(on((each) => new WorkspaceTable(each))))
  describe('branch names', () => runBranchNameTableTests(on((each) => new BranchNameTable(each))))
  describe('layers', () => runLayerStoreTests(on((each) => new LayerTable(each))))
  describe('keys', () => runKeyTableTests(on((each) => new KeyTable(each))))
  describe('leases', () => runLeaseStoreTests(on((each) => new LeaseTable(each))))
  describe('locks', () => runLockStoreTests(on((each) => new LockTable(each))))
  describe('session notes', () =>
    runSessionNoteStoreTests(on((each) => new SessionNoteTable(each))))
  describe('survey', () => runSurveyTableTests(database))
  describe('tokens', () => runTokenStoreTests(on((each) => new TokenTable(each))))
  describe('journals', () => runJournalTests(database))
  describe('vault', () => runVaultTests(database))
  describe('uploads', () => runUploadStoreTests(on((each) => new UploadTable(each))))
}
