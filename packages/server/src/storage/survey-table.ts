import { type BranchId, type Hash, parseHash } from '@cairn/protocol'
import { hashColumn, hashOf, keyBytes, numberOf, optionalTextOf, textOf } from './columns.ts'
import { poolKey } from './content-table.ts'
import type { Database } from './database.ts'
import type { ObjectStore } from './object-store.ts'
import { blobKey, blobPrefix } from './placed-blobs.ts'

export interface SurveyedWorkspace {
  readonly id: string
  readonly name: string
  readonly pool: string
  /** ISO 8601, once it is deleted. */
  readonly deletedAt: string | undefined
}

export interface StoredContent {
  readonly hash: Hash
  /** As it is stored. */
  readonly bytes: number
}

export type ContentKind = 'nodes' | 'blobs'

const rowsAtOnce = 1000
const removedAtOnce = 100

/** Everything there is, across owners: for checking stores and for collecting garbage. */
export class SurveyTable {
  readonly #database: Database
  readonly #objects: ObjectStore

  constructor(database: Database, objects: ObjectStore) {
    this.#database = database
    this.#objects = objects
  }

  /** Those that were deleted included. */
  async workspaces(): Promise<readonly SurveyedWorkspace[]> {
    const rows = await this.#database.query(
      'SELECT id, name, pool, deleted_at FROM workspaces ORDER BY id',
      [],
    )
    return rows.map((row) => ({
      id: textOf(row, 'id'),
      name: textOf(row, 'name'),
      pool: textOf(row, 'pool'),
      deletedAt: optionalTextOf(row, 'deleted_at'),
    }))
  }

  /** All branches of a workspace: main, layers, rescue layers. Their ids begin with its id. */
  async branches(workspace: string): Promise<readonly BranchId[]> {
    const rows = await this.#database.query(
      'SELECT id FROM branches WHERE id >= ? AND id < ? ORDER BY id',
      // The sign after the slash.
      [keyBytes(`${workspace}/`), keyBytes(`${workspace}0`)],
    )
    return rows.map((row) => textOf<BranchId>(row, 'id'))
  }

  /** The branches of layers that were deleted, before then if that is given. */
  async deletedBranches(workspace: string, before?: string): Promise<readonly BranchId[]> {
    const condition = before === undefined ? '' : ' AND deleted_at < ?'
    const rows = await this.#database.query(
      `SELECT branch FROM layers WHERE workspace = ? AND deleted_at IS NOT NULL${condition}`,
      [workspace, ...(before === undefined ? [] : [before])].map(keyBytes),
    )
    return rows.map((row) => textOf<BranchId>(row, 'branch'))
  }

  /** Takes a branch away with its log and checkpoints. Only while nobody has it open. */
  async removeBranch(branch: BranchId): Promise<void> {
    const params = [keyBytes(branch)]
    const tables = ['log_rows', 'log_heads', 'checkpoints', 'leases', 'file_locks'] as const
    await this.#database.transact([
      ...tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE branch = ?`, params })),
      { sql: 'DELETE FROM branches WHERE id = ?', params },
    ])
  }

  /** What uploads under way have sent already. */
  async uploadedBlobs(workspace: string): Promise<readonly Hash[]> {
    const rows = await this.#database.query(
      'SELECT blob_id FROM upload_blocks WHERE blob_id IS NOT NULL AND upload IN (SELECT id FROM uploads WHERE workspace = ?)',
      [keyBytes(workspace)],
    )
    return rows.map((row) => hashOf(row, 'blob_id'))
  }

  /** All nodes of a pool, or all blobs, wherever they are. */
  async *content(pool: string, kind: ContentKind): AsyncGenerator<StoredContent> {
    yield* this.#rows(pool, kind)
    if (kind === 'nodes') return
    for await (const { key, sizeBytes } of this.#objects.list(blobPrefix(pool)))
      yield { hash: parseHash(key.slice(key.lastIndexOf('/') + 1)), bytes: sizeBytes }
  }

  /** Takes content away for good. Only while nobody writes: somebody may be about to need it again. */
  async remove(pool: string, kind: ContentKind, hashes: readonly Hash[]): Promise<void> {
    for (let at = 0; at < hashes.length; at += removedAtOnce) {
      const some = hashes.slice(at, at + removedAtOnce)
      const sql = `DELETE FROM ${kind} WHERE pool = ? AND hash IN (${some.map(() => '?').join(', ')})`
      await this.#database.transact([{ sql, params: [poolKey(pool), ...some.map(hashColumn)] }])
      if (kind === 'blobs') for (const id of some) await this.#objects.delete(blobKey(pool, id))
    }
  }

  async *#rows(pool: string, kind: ContentKind): AsyncGenerator<StoredContent> {
    for (let after: Uint8Array = new Uint8Array(); ;) {
      const rows = await this.#database.query(
        `SELECT hash, LENGTH(bytes) AS size FROM ${kind} WHERE pool = ? AND hash > ? ORDER BY hash LIMIT ?`,
        [poolKey(pool), after, rowsAtOnce],
      )
      for (const row of rows) yield { hash: hashOf(row, 'hash'), bytes: numberOf(row, 'size') }
      const last = rows.at(-1)
      if (!last) return
      after = hashColumn(hashOf(last, 'hash'))
    }
  }
}
