import { hash } from 'node:crypto'
import type { Hash } from '@cairn/protocol'
import { bytesOf, hashColumn, textBytes } from './columns.ts'
import type { Database, SqlValue } from './database.ts'
import type { DraftMark } from './draft-mark.ts'
import { insertStatements, valueBytes } from './statements.ts'
import { touchRows } from './touch-rows.ts'

/** TiDB ends a transaction at 100 MiB; and while one is written, other writers wait. */
const transactionBytesMax = 8 << 20

/**
 * Bytes by hash, inside of one pool. Two pools that hold the same bytes hold them twice, so that no
 * owner learns from the store what others have.
 */
export class ContentTable {
  readonly #database: Database
  readonly #table: 'nodes' | 'blobs'
  readonly #pool: Uint8Array

  constructor(database: Database, table: 'nodes' | 'blobs', pool: string) {
    this.#database = database
    this.#table = table
    this.#pool = poolKey(pool)
  }

  async find(id: Hash): Promise<Uint8Array | undefined> {
    const [row] = await this.#database.query(
      `SELECT bytes FROM ${this.#table} WHERE pool = ? AND hash = ?`,
      [this.#pool, hashColumn(id)],
    )
    return row && bytesOf(row, 'bytes')
  }

  /** Those that are there; the collector begins anew with them. */
  touch(ids: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    return touchRows(this.#database, this.#table, this.#pool, ids)
  }

  /**
   * Resolves once all of them would survive a power cut. Those that are there stay, and are condemned no more; the others
   * are marked as a draft's.
   */
  async put(contents: ReadonlyMap<Hash, Uint8Array>, mark?: DraftMark): Promise<void> {
    const { dialect } = this.#database
    const onTaken = dialect.clearOnTaken(['pool', 'hash'], 'condemned_ms')
    const columns = ['pool', 'hash', 'bytes', 'condemned_ms']
    for (const rows of this.#rowGroups(contents, mark ?? null))
      await this.#database.transact(
        insertStatements({ table: this.#table, columns, rows, onTaken }),
      )
  }

  #rowGroups(contents: ReadonlyMap<Hash, Uint8Array>, mark: DraftMark | null): SqlValue[][][] {
    const groups: SqlValue[][][] = []
    let room = 0
    // In order of hashes: writers that lock the same entries of the index then wait for each other, instead of
    // dying in a deadlock, and neighbours are written together.
    for (const id of [...contents.keys()].sort()) {
      const row = [this.#pool, hashColumn(id), contents.get(id)!, mark]
      room -= valueBytes(row)
      if (room < 0) {
        groups.push([])
        room = transactionBytesMax - valueBytes(row)
      }
      groups.at(-1)!.push(row)
    }
    return groups
  }
}

/** A pool's id may be long and stands in every entry of the index: 16 bytes of its hash make that half as big. */
export function poolKey(pool: string): Uint8Array {
  return hash('sha256', textBytes(pool), 'buffer').subarray(0, 16)
}
