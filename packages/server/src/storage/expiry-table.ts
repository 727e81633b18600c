import type { BranchId, LayerState } from '@cairn/protocol'
import { keyBytes, optionalTextOf, textOf } from './columns.ts'
import { type Database, type Row, tryTransact } from './database.ts'

const isClosed = 'state IN (?, ?)'
const closedStates = ['committed', 'abandoned'].map(keyBytes)

interface LayerKey {
  readonly workspace: string
  readonly id: string
  readonly branch: BranchId
}

export interface ExpiredLayer extends LayerKey {
  readonly name: string | undefined
  readonly state: LayerState
  /** ISO 8601 */
  readonly closedAt: string
}

/** Layers, tokens and answers that are over, and for how long. */
export class ExpiryTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Layers that are not recorded as over. */
  async openLayers(): Promise<readonly LayerKey[]> {
    const rows = await this.#find(`deleted_at IS NULL AND NOT ${isClosed}`, closedStates)
    return rows.map(keyOf)
  }

  /** Open layers that stage an import, and were made before then: the server that made them has ended. */
  async stagedLayers(before: string): Promise<readonly LayerKey[]> {
    const rows = await this.#find(`deleted_at IS NULL AND NOT ${isClosed} AND created_at < ?`, [
      ...closedStates,
      keyBytes(before),
    ])
    return rows.map(keyOf).filter(({ branch }) => branch.includes('/layer-import-'))
  }

  /** False when it was closed or deleted meanwhile. */
  dropStaged({ workspace, id, branch }: LayerKey, now: string): Promise<boolean> {
    const key = [workspace, id].map(keyBytes)
    return tryTransact(this.#database, [
      {
        sql: `UPDATE layers SET deleted_at = ?, name = NULL, version = version + 1 WHERE workspace = ? AND id = ? AND deleted_at IS NULL AND NOT ${isClosed}`,
        params: [keyBytes(now), ...key, ...closedStates],
        expect: 1,
      },
      {
        sql: 'DELETE FROM branch_names WHERE workspace = ? AND branch = ?',
        params: [workspace, branch].map(keyBytes),
      },
    ])
  }

  /**
   * Records the state of a layer that the log has as closed. False when another server recorded it.
   */
  noteState({ workspace, id }: LayerKey, state: LayerState, now: string): Promise<boolean> {
    return tryTransact(this.#database, [
      {
        sql: `UPDATE layers SET state = ?, closed_at = ?, version = version + 1 WHERE workspace = ? AND id = ? AND deleted_at IS NULL AND NOT ${isClosed}`,
        params: [...[state, now, workspace, id].map(keyBytes), ...closedStates],
        expect: 1,
      },
    ])
  }

  /** Layers that were closed by a server that did not note when: their time begins now. */
  async noteClosed(now: string): Promise<void> {
    const sql = `UPDATE layers SET closed_at = ? WHERE closed_at IS NULL AND deleted_at IS NULL AND ${isClosed}`
    await this.#database.transact([{ sql, params: [keyBytes(now), ...closedStates] }])
  }

  /**
   * Deletes answers and notes under idempotency keys, which carry no time: theirs begins with the first run that meets
   * them.
   */
  async forgetAnswers(nowMs: number, endMs: number): Promise<void> {
    await this.#database.transact([
      { sql: 'DELETE FROM answers WHERE met_ms < ?', params: [endMs] },
      { sql: 'UPDATE answers SET met_ms = ? WHERE met_ms IS NULL', params: [nowMs] },
    ])
  }

  /** Deletes tokens that were revoked before then. A token without a row is refused like any other that is not ours. */
  async forgetRevokedTokens(endMs: number): Promise<void> {
    await this.#database.transact([
      { sql: 'DELETE FROM tokens WHERE revoked_ms < ?', params: [endMs] },
    ])
  }

  /**
   * Closed before then, with no layer on top and no labelled checkpoint that a user may come back
   * for.
   */
  async expiredLayers(end: string): Promise<readonly ExpiredLayer[]> {
    const rows = await this.#find(expired, expiredParams(end))
    return rows.map((row) => ({
      ...keyOf(row),
      name: optionalTextOf(row, 'name'),
      state: textOf<LayerState>(row, 'state'),
      closedAt: textOf(row, 'closed_at'),
    }))
  }

  #find(condition: string, params: readonly Uint8Array[]): Promise<readonly Row[]> {
    return this.#database.query(
      `SELECT workspace, id, branch, name, state, closed_at FROM layers WHERE ${condition} ORDER BY workspace, id`,
      [...params],
    )
  }

  /** Deletes it as of when it was closed, unless it has been reopened, labelled or built on meanwhile. */
  expire({ workspace, id, branch }: ExpiredLayer, end: string): Promise<boolean> {
    const key = [workspace, id].map(keyBytes)
    return tryTransact(this.#database, [
      {
        sql: 'UPDATE layers SET deleted_at = closed_at, name = NULL, version = version + 1 WHERE workspace = ? AND id = ? AND deleted_at IS NULL AND closed_at < ?',
        params: [...key, keyBytes(end)],
        expect: 1,
      },
      {
        sql: 'DELETE FROM branch_names WHERE workspace = ? AND branch = ?',
        params: [workspace, branch].map(keyBytes),
      },
      { sql: 'DELETE FROM layer_tags WHERE workspace = ? AND layer = ?', params: key },
      { sql: 'DELETE FROM checkpoint_labels WHERE branch = ?', params: [keyBytes(branch)] },
    ])
  }
}

function keyOf(row: Row): LayerKey {
  return {
    workspace: textOf(row, 'workspace'),
    id: textOf(row, 'id'),
    branch: textOf<BranchId>(row, 'branch'),
  }
}

const expired = `deleted_at IS NULL AND ${isClosed} AND closed_at < ?
  AND branch NOT IN (SELECT branch FROM checkpoint_labels WHERE label <> ?)
  AND NOT EXISTS (SELECT 1 FROM layers child WHERE child.workspace = layers.workspace
    AND child.parent = layers.id AND child.deleted_at IS NULL)`

function expiredParams(end: string): Uint8Array[] {
  return [...closedStates, keyBytes(end), new Uint8Array()]
}
