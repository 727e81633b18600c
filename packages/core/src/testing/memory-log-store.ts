import { type BranchId, CairnError, type SessionId } from '@cairn/protocol'
import { type Charge, type LogRow, logReadBytesMax, type LogStore } from '../ports/log-store.ts'

export class MemoryLogStore implements LogStore {
  /** Open to tests that damage or count what is stored. */
  readonly logs: Map<BranchId, LogRow[]> = new Map()
  /** Where accounts are kept. */
  onCharge: ((charge: Charge) => Promise<void>) | undefined
  readonly #trimmed = new Map<BranchId, number>()

  async append(
    branch: BranchId,
    rows: readonly LogRow[],
    charges: readonly Charge[] = [],
  ): Promise<void> {
    const log = this.#log(branch)
    rows.forEach((row, index) => {
      if (row.seq !== log.length + 1 + index)
        throw new CairnError('sequence_conflict', {
          what: `append batch ${row.seq} to branch ${branch}`,
          reason: `it has ${log.length}`,
          subject: branch,
        })
    })
    for (const row of rows) log.push(copyRow(row))
    this.logs.set(branch, log)
    for (const charge of charges) await this.onCharge?.(charge)
  }

  async read(branch: BranchId, seq: number, limit: number): Promise<readonly LogRow[]> {
    let bytes = 0
    return this.#log(branch)
      .slice(seq, seq + limit)
      .filter((row, i) => (bytes += row.bytes.length) <= logReadBytesMax || i === 0)
      .map(copyRow)
  }

  async lastNumber(branch: BranchId, session: SessionId): Promise<number> {
    return this.#log(branch).reduce(
      (last, row) => (row.session === session ? Math.max(last, row.number) : last),
      0,
    )
  }

  async find(branch: BranchId, session: SessionId, number: number): Promise<LogRow | undefined> {
    const found = this.#log(branch).find((row) => row.session === session && row.number === number)
    return found && copyRow(found)
  }

  async trimmedTo(branch: BranchId): Promise<number> {
    return this.#trimmed.get(branch) ?? 0
  }

  async trim(branch: BranchId, seq: number, rows: readonly LogRow[]): Promise<void> {
    const log = this.#log(branch)
    for (const { seq: at, hash, bytes } of rows) {
      const row = log[at - 1]
      if (row?.hash === hash) log[at - 1] = copyRow({ ...row, bytes })
    }
    if (log.length > 0) this.#trimmed.set(branch, Math.max(seq, await this.trimmedTo(branch)))
  }

  #log(branch: BranchId): LogRow[] {
    return this.logs.get(branch) ?? []
  }
}

function copyRow(row: LogRow): LogRow {
  return { ...row, bytes: row.bytes.slice() }
}
