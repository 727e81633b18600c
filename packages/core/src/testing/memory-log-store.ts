import { type BranchId, CairnError, type SessionId } from '@cairn/protocol'
import type { LogRow, LogStore } from '../ports/log-store.ts'

export class MemoryLogStore implements LogStore {
  /** Open to tests that damage or count what is stored. */
  readonly logs: Map<BranchId, LogRow[]> = new Map()

  async append(branch: BranchId, rows: readonly LogRow[]): Promise<void> {
    const log = this.#log(branch)
    rows.forEach((row, index) => {
      if (row.seq !== log.length + 1 + index)
        throw new CairnError('sequence_conflict', {
          message: `cannot append batch ${row.seq} to branch ${branch}: it has ${log.length}`,
          subject: branch,
        })
    })
    log.push(...rows)
  }

  async read(branch: BranchId, seq: number, limit: number): Promise<readonly LogRow[]> {
    return this.#log(branch).slice(seq, seq + limit)
  }

  async lastNumber(branch: BranchId, session: SessionId): Promise<number> {
    return this.#log(branch).reduce(
      (last, row) => (row.session === session ? Math.max(last, row.number) : last),
      0,
    )
  }

  async find(branch: BranchId, session: SessionId, number: number): Promise<LogRow | undefined> {
    return this.#log(branch).find((row) => row.session === session && row.number === number)
  }

  #log(branch: BranchId): LogRow[] {
    let log = this.logs.get(branch)
    if (!log) this.logs.set(branch, (log = []))
    return log
  }
}
