import { type BranchId, CairnError, type CheckpointId } from '@cairn/protocol'
import type { BranchRecord, Checkpoint, RefStore } from '../ports/ref-store.ts'

export class MemoryRefStore implements RefStore {
  readonly #branches = new Map<BranchId, BranchRecord>()
  readonly #checkpoints = new Map<string, Checkpoint>()

  async createBranch(record: BranchRecord): Promise<void> {
    if (this.#branches.has(record.id))
      throw new CairnError('branch_exists', {
        message: `cannot create branch ${record.id}: it is there`,
        subject: record.id,
      })
    this.#branches.set(record.id, record)
  }

  async getBranch(id: BranchId): Promise<BranchRecord> {
    const record = this.#branches.get(id)
    if (record) return record
    throw new CairnError('branch_missing', { message: `cannot open branch ${id}`, subject: id })
  }

  async updateBranch(record: BranchRecord): Promise<boolean> {
    if ((await this.getBranch(record.id)).version !== record.version - 1) return false
    this.#branches.set(record.id, record)
    return true
  }

  async putCheckpoint(checkpoint: Checkpoint): Promise<void> {
    this.#checkpoints.set(`${checkpoint.branch}/${checkpoint.id}`, checkpoint)
  }

  async getCheckpoint(branch: BranchId, id: CheckpointId): Promise<Checkpoint> {
    const checkpoint = this.#checkpoints.get(`${branch}/${id}`)
    if (checkpoint) return checkpoint
    throw new CairnError('checkpoint_missing', {
      message: `cannot find checkpoint ${id} of branch ${branch}`,
      subject: id,
    })
  }

  async listCheckpoints(branch: BranchId): Promise<readonly Checkpoint[]> {
    return [...this.#checkpoints.values()]
      .filter((checkpoint) => checkpoint.branch === branch)
      .sort((a, b) => a.seq - b.seq)
  }
}
