import type { BranchId } from '@cairn/protocol'
import type { LeaseRecord } from '../sessions/lease.ts'
import type { LeaseStore } from '../sessions/lease-store.ts'

export class MemoryLeaseStore implements LeaseStore {
  readonly #records = new Map<BranchId, LeaseRecord>()

  async get(branch: BranchId): Promise<LeaseRecord | undefined> {
    return this.#records.get(branch)
  }

  async put(record: LeaseRecord): Promise<boolean> {
    if ((this.#records.get(record.branch)?.version ?? 0) !== record.version - 1) return false
    this.#records.set(record.branch, record)
    return true
  }
}
