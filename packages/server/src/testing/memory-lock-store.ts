import type { BranchId, Ino } from '@cairn/protocol'
import type { LockRecord, LockStore } from '../ports/lock-store.ts'

export class MemoryLockStore implements LockStore {
  readonly #records = new Map<string, LockRecord>()

  async get(branch: BranchId, ino: Ino): Promise<LockRecord | undefined> {
    return this.#records.get(keyOf(branch, ino))
  }

  async list(branch: BranchId): Promise<readonly LockRecord[]> {
    return [...this.#records.values()].filter((record) => record.branch === branch)
  }

  async replace(before: LockRecord | undefined, after: LockRecord): Promise<boolean> {
    const key = keyOf(after.branch, after.ino)
    if (this.#records.get(key)?.stamp !== before?.stamp) return false
    if (after.locks.length === 0) this.#records.delete(key)
    else this.#records.set(key, after)
    return true
  }
}

function keyOf(branch: BranchId, ino: Ino): string {
  return `${branch} ${ino}`
}
