import type { BranchId, CheckpointId, LayerState } from '@cairn/protocol'
import {
  type CheckpointLabel,
  type LayerFilter,
  type LayerRecord,
  type LayerStore,
  type Settings,
  tagText,
} from '../ports/layer-store.ts'
import { insertBranchName } from './branch-name-table.ts'
import {
  hashColumn,
  hashOf,
  keyBytes,
  numberOf,
  optionalTextOf,
  textBytes,
  textOf,
} from './columns.ts'
import { type Database, type Row, type SqlValue, type Statement, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

const columns = [
  'workspace',
  'id',
  'branch',
  'name',
  'parent',
  'path',
  'tags',
  'state',
  'message',
  'created_by',
  'created_at',
  'origin_root',
  'origin_seq',
  'closed_at',
  'version',
] as const
const labelColumns = ['workspace', 'branch', 'id', 'label', 'tool_call'] as const

/**
 * Layers, in SQL. Their names and ids are names of branches: code that opens a branch can open a
 * layer.
 */
export class LayerTable implements LayerStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  create(record: LayerRecord): Promise<boolean> {
    const { workspace, id, name, branch, parent } = record
    // DURABLE: the layer is on disk under all its names.
    return tryTransact(this.#database, [
      ...(parent === 'main' ? [] : [holdLayer(workspace, parent)]),
      ...insertStatements({ table: 'layers', columns, rows: [values(record)] }),
      ...insertBranchName(workspace, id, branch),
      ...(name === undefined ? [] : insertBranchName(workspace, name, branch)),
      ...insertTags(record),
    ])
  }

  async find(workspace: string, id: string): Promise<LayerRecord | undefined> {
    const [record] = await this.#select('workspace = ? AND id = ?', [workspace, id].map(keyBytes))
    return record
  }

  async findByBranch(branch: BranchId): Promise<LayerRecord | undefined> {
    const [record] = await this.#select('branch = ?', [keyBytes(branch)])
    return record
  }

  async findByName(workspace: string, name: string): Promise<LayerRecord | undefined> {
    const named = 'branch IN (SELECT branch FROM branch_names WHERE workspace = ? AND name = ?)'
    const params = [workspace, name, name].map(keyBytes)
    const [record] = await this.#select(`${named} AND name = ?`, params)
    return record
  }

  list(
    workspace: string,
    { tag, state, parent }: LayerFilter,
    after: string | undefined,
    limit: number,
  ): Promise<readonly LayerRecord[]> {
    const conditions = ['workspace = ?']
    const params: SqlValue[] = [keyBytes(workspace)]
    const add = (condition: string, ...more: string[]): void => {
      conditions.push(condition)
      params.push(...more.map(keyBytes))
    }
    if (tag !== undefined)
      add('id IN (SELECT layer FROM layer_tags WHERE workspace = ? AND tag = ?)', workspace, tag)
    if (state !== undefined) add('state = ?', state)
    if (parent !== undefined) add('parent = ?', parent)
    if (after !== undefined) {
      const [time = '', id = ''] = after.split(' ', 2)
      add('(created_at > ? OR (created_at = ? AND id > ?))', time, time, id)
    }
    return this.#select(
      conditions.join(' AND '),
      [...params, limit],
      'ORDER BY created_at, id LIMIT ?',
    )
  }

  async update(record: LayerRecord): Promise<boolean> {
    const { workspace, id, name, branch, version } = record
    const before = await this.find(workspace, id)
    if (before?.version !== version - 1) return false
    const key = [workspace, id].map(keyBytes)
    return tryTransact(this.#database, [
      {
        sql: 'UPDATE layers SET name = ?, tags = ?, state = ?, message = ?, closed_at = ?, version = ? WHERE workspace = ? AND id = ? AND version = ?',
        params: [...changing(record), version, ...key, version - 1],
        expect: 1,
      },
      ...(name === before.name ? [] : renameStatements(workspace, before.name, name, branch)),
      { sql: 'DELETE FROM layer_tags WHERE workspace = ? AND layer = ?', params: key },
      ...insertTags(record),
    ])
  }

  async remove(workspace: string, id: string, deletedAt: string): Promise<boolean> {
    const record = await this.find(workspace, id)
    if (!record) return false
    const key = [workspace, id].map(keyBytes)
    const nameKey = [workspace, record.branch].map(keyBytes)
    return tryTransact(this.#database, [
      holdLayer(workspace, id),
      {
        sql: 'UPDATE layers SET version = version WHERE workspace = ? AND parent = ? AND deleted_at IS NULL',
        params: key,
        expect: 0,
      },
      {
        sql: 'UPDATE layers SET deleted_at = ?, name = NULL WHERE workspace = ? AND id = ? AND deleted_at IS NULL',
        params: [keyBytes(deletedAt), ...key],
        expect: 1,
      },
      { sql: 'DELETE FROM branch_names WHERE workspace = ? AND branch = ?', params: nameKey },
      { sql: 'DELETE FROM layer_tags WHERE workspace = ? AND layer = ?', params: key },
      { sql: 'DELETE FROM checkpoint_labels WHERE branch = ?', params: [keyBytes(record.branch)] },
    ])
  }

  async putLabel({ workspace, branch, id, label, toolCall }: CheckpointLabel): Promise<void> {
    const tool = toolCall === undefined ? null : keyBytes(toolCall)
    const rows = [[...[workspace, branch, id, label].map(keyBytes), tool]]
    const onTaken = this.#database.dialect.onTaken(['branch', 'id'], ['label', 'tool_call'])
    await this.#database.transact(
      insertStatements({ table: 'checkpoint_labels', columns: labelColumns, rows, onTaken }),
    )
  }

  listLabels(branch: BranchId): Promise<readonly CheckpointLabel[]> {
    return this.#labels('branch = ?', [branch])
  }

  findLabels(workspace: string, label: string): Promise<readonly CheckpointLabel[]> {
    return this.#labels('workspace = ? AND label = ?', [workspace, label])
  }

  removeLabel(branch: BranchId, id: CheckpointId): Promise<boolean> {
    const params = [branch, id].map(keyBytes)
    return tryTransact(this.#database, [
      { sql: 'DELETE FROM checkpoint_labels WHERE branch = ? AND id = ?', params, expect: 1 },
      { sql: 'DELETE FROM checkpoints WHERE branch = ? AND id = ?', params },
    ])
  }

  async findSettings(workspace: string, layer: string): Promise<Settings> {
    const [row] = await this.#database.query(
      'SELECT settings FROM settings WHERE workspace = ? AND layer = ?',
      [workspace, layer].map(keyBytes),
    )
    return row ? (JSON.parse(textOf(row, 'settings')) as Settings) : {}
  }

  async putSettings(workspace: string, layer: string, settings: Settings): Promise<void> {
    const rows = [[...[workspace, layer].map(keyBytes), textBytes(JSON.stringify(settings))]]
    const onTaken = this.#database.dialect.onTaken(['workspace', 'layer'], ['settings'])
    const names = ['workspace', 'layer', 'settings']
    await this.#database.transact(
      insertStatements({ table: 'settings', columns: names, rows, onTaken }),
    )
    // DURABLE: every server goes by them from its next look on.
  }

  async findAnswer(workspace: string, request: string): Promise<string | undefined> {
    const [row] = await this.#database.query(
      'SELECT answer FROM answers WHERE workspace = ? AND request = ?',
      [workspace, request].map(keyBytes),
    )
    return row && textOf(row, 'answer')
  }

  async putAnswer(workspace: string, request: string, answer: string): Promise<void> {
    const rows = [[keyBytes(workspace), keyBytes(request), textBytes(answer)]]
    const onTaken = this.#database.dialect.onTaken(['workspace', 'request'], [])
    const names = ['workspace', 'request', 'answer']
    await this.#database.transact(
      insertStatements({ table: 'answers', columns: names, rows, onTaken }),
    )
  }

  async #select(
    where: string,
    params: readonly SqlValue[],
    end = '',
  ): Promise<readonly LayerRecord[]> {
    const rows = await this.#database.query(
      `SELECT ${columns.join(', ')} FROM layers WHERE deleted_at IS NULL AND ${where} ${end}`,
      params,
    )
    return rows.map(layerRecord)
  }

  async #labels(where: string, params: readonly string[]): Promise<readonly CheckpointLabel[]> {
    const rows = await this.#database.query(
      `SELECT ${labelColumns.join(', ')} FROM checkpoint_labels WHERE ${where} ORDER BY branch, id`,
      params.map(keyBytes),
    )
    return rows.map((row) => ({
      workspace: textOf(row, 'workspace'),
      branch: textOf<BranchId>(row, 'branch'),
      id: textOf<CheckpointId>(row, 'id'),
      label: textOf(row, 'label'),
      toolCall: optionalTextOf(row, 'tool_call'),
    }))
  }
}

function renameStatements(
  workspace: string,
  before: string | undefined,
  after: string | undefined,
  branch: BranchId,
): Statement[] {
  const sql = 'DELETE FROM branch_names WHERE workspace = ? AND name = ?'
  return [
    ...(before === undefined ? [] : [{ sql, params: [workspace, before].map(keyBytes) }]),
    ...(after === undefined ? [] : insertBranchName(workspace, after, branch)),
  ]
}

/** Locks a layer's row until the end of the transaction: making a layer on it and deleting it exclude each other. */
function holdLayer(workspace: string, id: string): Statement {
  return {
    sql: 'UPDATE layers SET version = version WHERE workspace = ? AND id = ? AND deleted_at IS NULL',
    params: [workspace, id].map(keyBytes),
    expect: 1,
  }
}

function insertTags({ workspace, id, tags }: LayerRecord): Statement[] {
  const rows = Object.entries(tags).map(([key, value]) =>
    [workspace, tagText(key, value), id].map(keyBytes),
  )
  return insertStatements({ table: 'layer_tags', columns: ['workspace', 'tag', 'layer'], rows })
}

function values(record: LayerRecord): SqlValue[] {
  const { workspace, id, branch, parent, path, createdBy, createdAt } = record
  const [name, tags, state, message, closedAt] = changing(record)
  return [
    ...[workspace, id, branch].map(keyBytes),
    name!,
    keyBytes(parent),
    textBytes(path),
    tags!,
    state!,
    message!,
    ...[createdBy, createdAt].map(keyBytes),
    hashColumn(record.originRoot),
    record.originSeq,
    closedAt!,
    record.version,
  ]
}

function changing({ name, tags, state, message, closedAt }: LayerRecord): SqlValue[] {
  return [
    name === undefined ? null : keyBytes(name),
    textBytes(JSON.stringify(tags)),
    keyBytes(state),
    textBytes(message),
    closedAt === undefined ? null : keyBytes(closedAt),
  ]
}

function layerRecord(row: Row): LayerRecord {
  return {
    workspace: textOf(row, 'workspace'),
    id: textOf(row, 'id'),
    branch: textOf<BranchId>(row, 'branch'),
    name: optionalTextOf(row, 'name'),
    parent: textOf(row, 'parent'),
    path: textOf(row, 'path'),
    tags: JSON.parse(textOf(row, 'tags')) as LayerRecord['tags'],
    state: textOf<LayerState>(row, 'state'),
    message: textOf(row, 'message'),
    createdBy: textOf(row, 'created_by'),
    createdAt: textOf(row, 'created_at'),
    originRoot: hashOf(row, 'origin_root'),
    originSeq: numberOf(row, 'origin_seq'),
    ...(row['closed_at'] === null ? {} : { closedAt: textOf(row, 'closed_at') }),
    version: numberOf(row, 'version'),
  }
}
