import type { BranchId, CheckpointId, Hash } from '@cairn/protocol'
import { hashColumn, hashOf, keyBytes, numberOf, optionalTextOf, textOf } from './columns.ts'
import { poolKey } from './content-table.ts'
import { ContentRemover } from './content-remover.ts'
import type { Database } from './database.ts'
import { evenTime } from './draft-mark.ts'
import type { ObjectStore } from './object-store.ts'
import { type ContentTableName, groupHashes, whereHashes } from './touch-rows.ts'

export interface SurveyedWorkspace {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly pool: string
  /** ISO 8601, once it is deleted. */
  readonly deletedAt: string | undefined
}

export interface StoredContent {
  readonly hash: Hash
  /** As it is stored. */
  readonly bytes: number
  /** When a collector found that nothing needs it. */
  readonly condemnedMs: number | undefined
}

const rowsAtOnce = 1000

/** Everything there is, across owners: for checking stores and for collecting garbage. */
export class SurveyTable {
  readonly #database: Database
  readonly #remover: ContentRemover

  constructor(database: Database, objects: ObjectStore) {
    this.#database = database
    this.#remover = new ContentRemover(database, objects)
  }

  /** Those that were deleted included. */
  async workspaces(): Promise<readonly SurveyedWorkspace[]> {
    const rows = await this.#database.query(
      'SELECT id, owner, name, pool, deleted_at FROM workspaces ORDER BY id',
      [],
    )
    return rows.map((row) => ({
      id: textOf(row, 'id'),
      owner: textOf(row, 'owner'),
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

  /** The layers that were deleted before then, by their branches. */
  async deletedLayers(workspace: string, before: string): Promise<ReadonlyMap<BranchId, string>> {
    const rows = await this.#database.query(
      'SELECT id, branch FROM layers WHERE workspace = ? AND deleted_at < ?',
      [workspace, before].map(keyBytes),
    )
    return new Map(rows.map((row) => [textOf<BranchId>(row, 'branch'), textOf(row, 'id')]))
  }

  /** The branches of layers, also of deleted ones. */
  async layerBranches(workspace: string): Promise<readonly BranchId[]> {
    const rows = await this.#database.query('SELECT branch FROM layers WHERE workspace = ?', [
      keyBytes(workspace),
    ])
    return rows.map((row) => textOf<BranchId>(row, 'branch'))
  }

  /** Deletes a branch with its log and checkpoints. A server that has it open finds it gone. */
  async removeBranch(branch: BranchId): Promise<void> {
    const params = [keyBytes(branch)]
    const tables = [
      'log_rows',
      'log_heads',
      'checkpoints',
      'leases',
      'file_locks',
      'session_notes',
      'session_holds',
      'traces',
    ] as const
    await this.#database.transact([
      ...tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE branch = ?`, params })),
      { sql: 'DELETE FROM branches WHERE id = ?', params },
    ])
  }

  async removeCheckpoint(branch: BranchId, id: CheckpointId): Promise<void> {
    const params = [branch, id].map(keyBytes)
    await this.#database.transact([
      { sql: 'DELETE FROM checkpoints WHERE branch = ? AND id = ?', params },
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

  /** What a table has of a pool, so much at a time, in order of hashes. */
  async *content(pool: string, table: ContentTableName): AsyncGenerator<readonly StoredContent[]> {
    const size = table === 'nodes' || table === 'blobs' ? 'LENGTH(bytes)' : 'size'
    for (let after: Uint8Array = new Uint8Array(); ;) {
      const rows = await this.#database.query(
        `SELECT hash, ${size} AS stored_size, condemned_ms FROM ${table} WHERE pool = ? AND hash > ? ORDER BY hash LIMIT ?`,
        [poolKey(pool), after, rowsAtOnce],
      )
      const last = rows.at(-1)
      if (!last) return
      yield rows.map((row) => ({
        hash: hashOf(row, 'hash'),
        bytes: numberOf(row, 'stored_size'),
        condemnedMs: row['condemned_ms'] === null ? undefined : numberOf(row, 'condemned_ms'),
      }))
      after = hashColumn(hashOf(last, 'hash'))
    }
  }

  /**
   * Nothing needs them. They can be used until the grace time is over, and a use takes this back.
   */
  condemn(
    pool: string,
    table: ContentTableName,
    hashes: readonly Hash[],
    nowMs: number,
  ): Promise<void> {
    const set = `UPDATE ${table} SET condemned_ms = ? WHERE condemned_ms IS NULL AND`
    return this.#forHashes(pool, hashes, set, [evenTime(nowMs)])
  }

  /** Something needs them again. */
  spare(pool: string, table: ContentTableName, hashes: readonly Hash[]): Promise<void> {
    return this.#forHashes(pool, hashes, `UPDATE ${table} SET condemned_ms = NULL WHERE`, [])
  }

  /**
   * Deletes those of them for good that were condemned up to then and not used since. Without a
   * time all of them go: only while there are no writers.
   */
  remove(
    pool: string,
    table: ContentTableName,
    hashes: readonly Hash[],
    condemnedUpTo: number | undefined,
  ): Promise<void> {
    const condition =
      condemnedUpTo === undefined
        ? { sql: '1 = 1', params: [] }
        : { sql: 'condemned_ms <= ?', params: [condemnedUpTo] }
    return this.#remover.remove(poolKey(pool), table, hashes, condition)
  }

  async #forHashes(
    pool: string,
    hashes: readonly Hash[],
    sql: string,
    params: readonly number[],
  ): Promise<void> {
    for (const some of groupHashes(hashes)) {
      const [where, more] = whereHashes(poolKey(pool), some)
      await this.#database.transact([{ sql: `${sql} ${where}`, params: [...params, ...more] }])
    }
  }
}
