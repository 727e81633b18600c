import { describe } from 'vitest'
import { runCases } from '@cairn/core/testing'
import { leaseStoreCases } from '../conformance/lease-store.ts'
import { lockStoreCases } from '../conformance/lock-store.ts'
import { MemoryLeaseStore } from './memory-lease-store.ts'
import { MemoryLockStore } from './memory-lock-store.ts'
import { MemorySessionNoteStore } from './memory-session-note-store.ts'
import { MemoryTraceStore } from './memory-trace-store.ts'
import { MemoryUploadStore } from './memory-upload-store.ts'
import { sessionNoteStoreCases } from '../conformance/session-note-store.ts'
import { traceStoreCases } from '../conformance/trace-store.ts'
import { uploadStoreCases } from '../conformance/upload-store.ts'

describe('leases in memory', () =>
  runCases(leaseStoreCases, async () => ({ store: new MemoryLeaseStore() })))

describe('locks in memory', () =>
  runCases(lockStoreCases, async () => ({ store: new MemoryLockStore() })))

describe('session notes in memory', () =>
  runCases(sessionNoteStoreCases, async () => ({ store: new MemorySessionNoteStore() })))

describe('traces in memory', () =>
  runCases(traceStoreCases, async () => ({ store: new MemoryTraceStore() })))

describe('uploads in memory', () =>
  runCases(uploadStoreCases, async () => ({ store: new MemoryUploadStore() })))
