import { type BranchId, CairnError, rootIno } from '@cairn/protocol'
import { BranchNameTable, insertBranchName, type NamedBranch } from './branch-name-table.ts'
import { keyBytes, numberOf, textOf } from './columns.ts'
import { type Database, type Row, StatementConflict, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

export interface StoredWorkspace {
  readonly id: string
  readonly owner: string
  /** One of its owner's. */
  readonly name: string
  /** Nodes and blobs are shared inside a pool, never across. Forks are in the pool of what they were made from. */
  readonly pool: string
  /** ISO 8601. */
  readonly createdAt: string
}

const columns = [
  'id',
  'owner',
  'live_name',
  'name',
  'pool',
  'main_branch',
  'created_at',
  'next_ino',
] as const
const selected = 'id, owner, name, pool, created_at'
const isDeleted = 'owner = ? AND live_name IS NULL AND deleted_at > ?'

export interface StoredDeletedWorkspace extends StoredWorkspace {
  /** ISO 8601. */
  readonly deletedAt: string
}

/** Which workspaces there are. A deleted one keeps its row, for the collector of garbage; its name is free. */
export class WorkspaceTable {
  readonly #database: Database
  readonly #branchNames: BranchNameTable

  constructor(database: Database) {
    this.#database = database
    this.#branchNames = new BranchNameTable(database)
  }

  /**
   * Makes the workspace and the name of its first branch together, or neither. Rejects with `workspace_exists`
   * when the owner has one of that name, or the id is taken. A fork goes on with the inode numbers of its origin.
   */
  async create(
    workspace: StoredWorkspace,
    main: NamedBranch,
    firstIno: number = rootIno + 1,
  ): Promise<void> {
    const { id, owner, name, pool, createdAt } = workspace
    const row = [id, owner, name, name, pool, main.id, createdAt].map(keyBytes)
    const statements = [
      ...insertStatements({ table: 'workspaces', columns, rows: [[...row, firstIno]] }),
      ...insertBranchName(id, main.name, main.id),
    ]
    if (!(await tryTransact(this.#database, statements))) throw exists('make', name)
    // DURABLE: workspace and branch name are on disk; both may be used.
  }

  /** By name or by id. Undefined for a deleted one, and for one of another owner. */
  async find(owner: string, nameOrId: string): Promise<StoredWorkspace | undefined> {
    const params = [keyBytes(owner), keyBytes(nameOrId)]
    for (const column of ['live_name', 'id']) {
      const [row] = await this.#database.query(
        `SELECT ${selected} FROM workspaces WHERE owner = ? AND ${column} = ? AND live_name IS NOT NULL`,
        params,
      )
      if (row) return storedWorkspace(row)
    }
    return undefined
  }

  /** Up to `limit` in the byte order of their names, after that name. */
  async list(
    owner: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly StoredWorkspace[]> {
    const rows = await this.#database.query(
      `SELECT ${selected} FROM workspaces WHERE owner = ? AND live_name > ? ORDER BY live_name LIMIT ?`,
      [keyBytes(owner), keyBytes(after ?? ''), limit],
    )
    return rows.map(storedWorkspace)
  }

  /** False when there is no such workspace. Rejects with `workspace_exists` when the name is taken. */
  rename(owner: string, id: string, name: string): Promise<boolean> {
    const sql =
      'UPDATE workspaces SET name = ?, live_name = ? WHERE owner = ? AND id = ? AND live_name IS NOT NULL'
    const params = [name, name, owner, id].map(keyBytes)
    return this.#takeName('rename it to', name, { sql, params })
  }

  /**
   * Brings back one that was deleted after that time, under this name. False when there is none. Rejects with
   * `workspace_exists` when the name is taken.
   */
  restore(owner: string, id: string, name: string, after: string): Promise<boolean> {
    const sql = `UPDATE workspaces SET name = ?, live_name = ?, deleted_at = NULL WHERE ${isDeleted} AND id = ?`
    const params = [name, name, owner, after, id].map(keyBytes)
    return this.#takeName('restore', name, { sql, params })
  }

  async #takeName(
    verb: string,
    name: string,
    statement: { readonly sql: string; readonly params: readonly Uint8Array[] },
  ): Promise<boolean> {
    try {
      await this.#database.transact([{ ...statement, expect: 1 }])
      return true
    } catch (error) {
      if (!(error instanceof StatementConflict)) throw error
      if (error.reason === 'key_taken') throw exists(verb, name)
      return false
    }
  }

  /**
   * Among those deleted after that time, the one with that id, or else the last one with that name.
   */
  async findDeleted(
    owner: string,
    nameOrId: string,
    after: string,
  ): Promise<StoredDeletedWorkspace | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${selected}, deleted_at FROM workspaces WHERE ${isDeleted} AND (id = ? OR name = ?)
        ORDER BY id = ? DESC, deleted_at DESC LIMIT 1`,
      [owner, after, nameOrId, nameOrId, nameOrId].map(keyBytes),
    )
    return row && storedDeleted(row)
  }

  /** Up to `limit` that were deleted after that time, in the order of their ids, after `afterId`. */
  async listDeleted(
    owner: string,
    after: string,
    afterId: string | undefined,
    limit: number,
  ): Promise<readonly StoredDeletedWorkspace[]> {
    const rows = await this.#database.query(
      `SELECT ${selected}, deleted_at FROM workspaces WHERE ${isDeleted} AND id > ? ORDER BY id LIMIT ?`,
      [...[owner, after, afterId ?? ''].map(keyBytes), limit],
    )
    return rows.map(storedDeleted)
  }

  /** The names of an owner's workspaces in a pool. */
  async listPool(owner: string, pool: string): Promise<readonly string[]> {
    const rows = await this.#database.query(
      'SELECT name FROM workspaces WHERE owner = ? AND pool = ? AND live_name IS NOT NULL ORDER BY live_name',
      [owner, pool].map(keyBytes),
    )
    return rows.map((row) => textOf(row, 'name'))
  }

  /** Whether another owner has, or had, a workspace with that id or in the pool of that id. */
  async hasOther(owner: string, id: string): Promise<boolean> {
    const rows = await this.#database.query(
      'SELECT id FROM workspaces WHERE (id = ? OR pool = ?) AND owner <> ? LIMIT 1',
      [id, id, owner].map(keyBytes),
    )
    return rows.length > 0
  }

  /** Marks it as deleted. False when there is none. */
  remove(owner: string, id: string, deletedAt: string): Promise<boolean> {
    const statement = {
      sql: 'UPDATE workspaces SET live_name = NULL, deleted_at = ? WHERE owner = ? AND id = ? AND live_name IS NOT NULL',
      params: [keyBytes(deletedAt), keyBytes(owner), keyBytes(id)],
      expect: 1,
    }
    return tryTransact(this.#database, [statement])
  }

  findBranch(workspace: string, name: string): Promise<BranchId | undefined> {
    return this.#branchNames.find(workspace, name)
  }

  /**
   * Reserves `count` inode numbers for good and gives the first. Rejects with `workspace_missing`. Numbers
   * reserved by an attempt that failed are lost, which costs nothing.
   */
  async takeInodes(id: string, count: number): Promise<number> {
    for (;;) {
      const first = await this.#nextIno(id)
      const statement = {
        sql: 'UPDATE workspaces SET next_ino = ? WHERE id = ? AND next_ino = ?',
        params: [first + count, keyBytes(id), first],
        expect: 1,
      }
      // DURABLE: these numbers are never given again, whatever crashes.
      if (await tryTransact(this.#database, [statement])) return first
    }
  }

  async #nextIno(id: string): Promise<number> {
    const [row] = await this.#database.query('SELECT next_ino FROM workspaces WHERE id = ?', [
      keyBytes(id),
    ])
    if (row) return numberOf(row, 'next_ino')
    throw new CairnError('workspace_missing', {
      what: `take inode numbers of workspace ${id}`,
      reason: `there is no workspace '${id}'`,
      subject: id,
    })
  }
}

function storedWorkspace(row: Row): StoredWorkspace {
  return {
    id: textOf(row, 'id'),
    owner: textOf(row, 'owner'),
    name: textOf(row, 'name'),
    pool: textOf(row, 'pool'),
    createdAt: textOf(row, 'created_at'),
  }
}

function storedDeleted(row: Row): StoredDeletedWorkspace {
  return { ...storedWorkspace(row), deletedAt: textOf(row, 'deleted_at') }
}

function exists(verb: string, name: string): CairnError {
  return new CairnError('workspace_exists', {
    what: `${verb} workspace '${name}'`,
    reason: 'the name is taken',
    subject: name,
  })
}
