import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** Inserts differ in their number of rows, so there are some hundreds of texts, and most of them come again. */
const statementsMax = 512

/** Prepared statements by their text, the longest unused dropped first. */
export class StatementCache {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    this.#statements.delete(sql)
    const statement = known ?? this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    if (this.#statements.size > statementsMax) this.#statements.delete(this.#oldest())
    return statement
  }

  #oldest(): string {
    return this.#statements.keys().next().value!
  }
}
