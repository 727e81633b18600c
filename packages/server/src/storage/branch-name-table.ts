import type { BranchId } from '@cairn/protocol'
import { keyBytes, textOf } from './columns.ts'
import { type Database, type Statement, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

export interface NamedBranch {
  readonly name: string
  readonly id: BranchId
}

/** What people call the branches of a workspace. */
export class BranchNameTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** False when the workspace has a branch of that name. */
  create(workspace: string, name: string, branch: BranchId): Promise<boolean> {
    return tryTransact(this.#database, insertBranchName(workspace, name, branch))
  }

  async find(workspace: string, name: string): Promise<BranchId | undefined> {
    const [row] = await this.#database.query(
      'SELECT branch FROM branch_names WHERE workspace = ? AND name = ?',
      [keyBytes(workspace), keyBytes(name)],
    )
    return row && textOf<BranchId>(row, 'branch')
  }

  /** Up to `limit` in the byte order of their names, after that name. */
  async list(
    workspace: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly NamedBranch[]> {
    const rows = await this.#database.query(
      'SELECT name, branch FROM branch_names WHERE workspace = ? AND name > ? ORDER BY name LIMIT ?',
      [keyBytes(workspace), keyBytes(after ?? ''), limit],
    )
    return rows.map((row) => ({ name: textOf(row, 'name'), id: textOf<BranchId>(row, 'branch') }))
  }

  /** Frees the name; the branch itself stays. False when there was none. */
  remove(workspace: string, name: string): Promise<boolean> {
    const statement = {
      sql: 'DELETE FROM branch_names WHERE workspace = ? AND name = ?',
      params: [keyBytes(workspace), keyBytes(name)],
      expect: 1,
    }
    return tryTransact(this.#database, [statement])
  }
}

export function insertBranchName(workspace: string, name: string, branch: BranchId): Statement[] {
  return insertStatements({
    table: 'branch_names',
    columns: ['workspace', 'name', 'branch'],
    rows: [[workspace, name, branch].map(keyBytes)],
  })
}
