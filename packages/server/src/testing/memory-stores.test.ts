import { describe } from 'vitest'
import { runLeaseStoreTests } from './lease-store-tests.ts'
import { runLockStoreTests } from './lock-store-tests.ts'
import { MemoryLeaseStore } from './memory-lease-store.ts'
import { MemoryLockStore } from './memory-lock-store.ts'
import { MemorySessionNoteStore } from './memory-session-note-store.ts'
import { MemoryUploadStore } from './memory-upload-store.ts'
import { runSessionNoteStoreTests } from './session-note-store-tests.ts'
import { runUploadStoreTests } from './upload-store-tests.ts'

describe('leases in memory', () =>
  runLeaseStoreTests(async () => ({ store: new MemoryLeaseStore() })))

describe('locks in memory', () => runLockStoreTests(async () => ({ store: new MemoryLockStore() })))

describe('session notes in memory', () =>
  runSessionNoteStoreTests(async () => ({ store: new MemorySessionNoteStore() })))

describe('uploads in memory', () =>
  runUploadStoreTests(async () => ({ store: new MemoryUploadStore() })))
