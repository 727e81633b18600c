import { join } from 'node:path'
import type { BlobStore, LogStore, NodeStore, RefStore } from '@cairn/core'
import type { KeyStore } from '../ports/key-store.ts'
import type { TokenStore } from '../ports/token-store.ts'
import type { UploadStore } from '../ports/upload-store.ts'
import type { LockStore } from '../ports/lock-store.ts'
import type { LeaseStore } from '../ports/lease-store.ts'
import type { SessionNoteStore } from '../ports/session-note-store.ts'
import { BranchNameTable } from './branch-name-table.ts'
import type { Database } from './database.ts'
import { ExpiryTable } from './expiry-table.ts'
import { DirectoryLock } from './directory-lock.ts'
import { CairnError, isCairnError } from '@cairn/protocol'
import { DiskReserve, withReserve, withRoomToDrop } from './disk/disk-reserve.ts'
import { DiskObjectStore } from './disk/disk-object-store.ts'
import { makeDirectory } from './disk/durable-files.ts'
import { diskError, hasCode } from './disk/errors.ts'
import { KeyTable } from './key-table.ts'
import { LeaseTable } from './lease-table.ts'
import { LockTable } from './lock-table.ts'
import type { LayerStore } from '../ports/layer-store.ts'
import { LayerTable } from './layer-table.ts'
import { LogTable } from './log-table.ts'
import { type ObserveStore, withDatabaseMetrics, withMetrics } from './metrics.ts'
import { migrate } from './migrate.ts'
import { describePlace, type MysqlConfig, parseMysqlUrl } from './mysql/config.ts'
import { findWeakness } from './mysql/weakness.ts'
import { NodeTable } from './node-table.ts'
import { PackCompactor } from './pack-compactor.ts'
import type { ObjectStore } from './object-store.ts'
import { PlacedBlobs } from './placed-blobs.ts'
import { findOpenFiles, privateDirectoryMode } from './private-files.ts'
import { RefTable } from './ref-table.ts'
import { withRetry } from './retry.ts'
import { parseS3Url, type S3Config } from './s3/config.ts'
import { SessionNoteTable } from './session-note-table.ts'
import { SqliteDatabase } from './sqlite/sqlite-database.ts'
import { SurveyTable } from './survey-table.ts'
import { TokenTable } from './token-table.ts'
import type { TraceStore } from '../ports/trace-store.ts'
import { TraceTable } from './trace-table.ts'
import { UploadTable } from './upload-table.ts'
import { openVaultTables, type VaultTables } from './vault-tables.ts'
import { WorkspaceTable } from './workspace-table.ts'

export interface StorageOptions {
  /** The data directory. Made where it is missing; locked where something is kept in it: one server at a time. */
  readonly data: string
  /** `mysql://user:password@host:port/database`; by default SQLite in the data directory. */
  readonly meta?: string
  /** `s3://bucket?endpoint=…&region=…&prefix=…`; by default files in the data directory. */
  readonly objects?: string
  readonly observe?: ObserveStore
  /** Hears of what works and should not be left so. */
  readonly warn?: (message: string) => void
}

/** Everything a server keeps. */
export interface Storage {
  readonly log: LogStore
  readonly refs: RefStore
  /** Deduplicated inside a pool, never across. */
  readonly nodes: (pool: string) => NodeStore
  readonly blobs: (pool: string) => BlobStore
  readonly workspaces: WorkspaceTable
  readonly branchNames: BranchNameTable
  readonly keys: KeyStore
  readonly tokens: TokenStore
  readonly leases: LeaseStore
  readonly sessionNotes: SessionNoteStore
  readonly traces: TraceStore
  readonly locks: LockStore
  readonly layers: LayerStore
  readonly uploads: UploadStore
  readonly objects: ObjectStore
  /** For jobs that look at everything at once. */
  readonly survey: SurveyTable
  readonly expiry: ExpiryTable
  readonly compactor: PackCompactor
  readonly vault: VaultTables
  /** Space set aside in the data directory; undefined where nothing is kept in it. */
  readonly reserve: DiskReserve | undefined
  /** Rejects with `storage_unavailable` unless the database answers. */
  readonly checkReady: () => Promise<void>
  /** Waits for what is under way. Nothing may be asked afterwards. */
  readonly close: () => Promise<void>
}

/**
 * Opens the stores and brings the schema up to date. Rejects with `storage_misconfigured`, `storage_unavailable`,
 * `storage_full` or `unsupported_version`, and leaves nothing open.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const places = readPlaces(options)
  const isHere = !places.mysql || !places.s3
  const reserve = isHere ? new DiskReserve(options.data) : undefined
  try {
    return await tryOpen(options, places, reserve)
  } catch (error) {
    // A full disk has no room for what opening writes.
    if (isCairnError(error, 'storage_misconfigured')) throw error
    if (!(await reserve?.releaseIfShort().catch(() => false))) throw error
    return tryOpen(options, places, reserve)
  }
}

async function tryOpen(
  options: StorageOptions,
  places: Places,
  reserve: DiskReserve | undefined,
): Promise<Storage> {
  const opened: { close(): Promise<void> | void }[] = []
  const close = async (): Promise<void> => {
    const last = opened.pop()
    try {
      await last?.close()
    } finally {
      // Whatever fails, the lock is let go.
      if (opened.length > 0) await close()
    }
  }
  const keep = <T extends { close(): Promise<void> | void }>(each: T): T => {
    opened.push(each)
    return each
  }
  const { data, observe = () => {}, warn = () => {} } = options
  try {
    await makeDataDirectory(data)
    const open = await findOpenFiles(data)
    if (open !== undefined) warn(open)
    // With everything elsewhere, any number of servers may share a machine.
    if (reserve) keep(DirectoryLock.take(data))
    const database = keep(withDatabaseMetrics(await openDatabase(places, warn), observe))
    await migrate(database)
    const objects = keep(withRetry(withMetrics(await openObjects(places, reserve), observe)))
    return { ...storesOn(database, objects, reserve), reserve, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the stores without running a server, for as long as the work takes. */
export async function withStorage<T>(
  options: StorageOptions,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  const storage = await openStorage(options)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

function storesOn(
  database: Database,
  objects: ObjectStore,
  reserve: DiskReserve | undefined,
): Omit<Storage, 'reserve' | 'close'> {
  const openBlobs = (pool: string): BlobStore => new PlacedBlobs(database, objects, pool)
  return {
    log: new LogTable(database),
    refs: new RefTable(database),
    nodes: (pool) => new NodeTable(database, pool),
    blobs: reserve ? (pool) => withRoomToDrop(openBlobs(pool), reserve) : openBlobs,
    workspaces: new WorkspaceTable(database),
    branchNames: new BranchNameTable(database),
    keys: new KeyTable(database),
    tokens: new TokenTable(database),
    leases: new LeaseTable(database),
    sessionNotes: new SessionNoteTable(database),
    traces: new TraceTable(database),
    locks: new LockTable(database),
    layers: new LayerTable(database),
    uploads: new UploadTable(database),
    objects,
    survey: new SurveyTable(database, objects),
    expiry: new ExpiryTable(database),
    compactor: new PackCompactor(database, objects),
    vault: openVaultTables(database),
    checkReady: async () => {
      await database.query('SELECT 1', [])
    },
  }
}

/** Another directory is needed: this one cannot be made, whenever it is tried again. */
const wrongPath = ['ENOENT', 'ENOTDIR', 'EEXIST', 'EACCES', 'EPERM']

async function makeDataDirectory(path: string): Promise<void> {
  try {
    await makeDirectory(path, privateDirectoryMode)
  } catch (error) {
    if (!wrongPath.some((code) => hasCode(error, code))) throw diskError('make', path, error)
    throw new CairnError('invalid_argument', {
      what: `make the data directory ${path}`,
      reason: error instanceof Error ? error.message : String(error),
      hint: 'Name a directory that this user may make, with --data DIR.',
      subject: path,
      cause: error,
    })
  }
}

/** Reads the addresses before anything is opened. */
function readPlaces({ data, meta, objects }: StorageOptions): Places {
  const mysql = meta === undefined ? undefined : parseMysqlUrl(meta)
  const s3 = objects === undefined ? undefined : parseS3Url(objects)
  return { data, mysql, s3 }
}

interface Places {
  readonly data: string
  readonly mysql: MysqlConfig | undefined
  readonly s3: S3Config | undefined
}

// The drivers are imported where they are needed: an embedded server loads neither.

async function openDatabase(
  { data, mysql }: Places,
  warn: (message: string) => void,
): Promise<Database> {
  if (!mysql) return SqliteDatabase.open(join(data, 'meta.db'))
  const { MysqlDatabase } = await import('./mysql/mysql-database.ts')
  const database = await MysqlDatabase.open(mysql)
  const weakness = await findWeakness(database, describePlace(mysql))
  if (weakness !== undefined) warn(weakness)
  return database
}

async function openObjects(
  { data, s3 }: Places,
  reserve: DiskReserve | undefined,
): Promise<ObjectStore> {
  if (!s3) {
    const objects = await DiskObjectStore.open(join(data, 'objects'))
    return reserve ? withReserve(objects, reserve) : objects
  }
  const { openS3 } = await import('./s3/s3-object-store.ts')
  return openS3(s3)
}
