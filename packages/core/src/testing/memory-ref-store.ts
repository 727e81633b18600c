import { type BranchId, CairnError, type CheckpointId } from '@cairn/protocol'
import type { Resolution } from '../ports/records.ts'
import type { BranchRecord, Checkpoint, RefStore } from '../ports/ref-store.ts'

export class MemoryRefStore implements RefStore {
  readonly #branches = new Map<BranchId, BranchRecord>()
  readonly #checkpoints = new Map<BranchId, Map<CheckpointId, Checkpoint>>()

  async createBranch(record: BranchRecord): Promise<void> {
    if (this.#branches.has(record.id))
      throw new CairnError('branch_exists', {
        what: `create branch ${record.id}`,
        reason: 'it is there',
        subject: record.id,
      })
    this.#branches.set(record.id, copyRecord(record))
  }

  async getBranch(id: BranchId): Promise<BranchRecord> {
    return copyRecord(this.#get(id))
  }

  async updateBranch(record: BranchRecord): Promise<boolean> {
    // Nothing may be awaited between looking and setting, or two could win.
    if (this.#get(record.id).version !== record.version - 1) return false
    this.#branches.set(record.id, copyRecord(record))
    return true
  }

  async putCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const own = this.#checkpoints.get(checkpoint.branch) ?? new Map<CheckpointId, Checkpoint>()
    this.#checkpoints.set(checkpoint.branch, own.set(checkpoint.id, copyCheckpoint(checkpoint)))
  }

  async getCheckpoint(branch: BranchId, id: CheckpointId): Promise<Checkpoint> {
    const checkpoint = this.#checkpoints.get(branch)?.get(id)
    if (checkpoint) return copyCheckpoint(checkpoint)
    throw new CairnError('checkpoint_missing', {
      what: `find checkpoint ${id} of branch ${branch}`,
      reason: 'there is none',
      subject: id,
    })
  }

  async listCheckpoints(branch: BranchId): Promise<readonly Checkpoint[]> {
    return [...(this.#checkpoints.get(branch)?.values() ?? [])]
      .sort((a, b) => a.seq - b.seq)
      .map(copyCheckpoint)
  }

  #get(id: BranchId): BranchRecord {
    const record = this.#branches.get(id)
    if (record) return record
    throw new CairnError('branch_missing', {
      what: `open branch ${id}`,
      reason: 'there is none',
      subject: id,
    })
  }
}

function copyRecord(record: BranchRecord): BranchRecord {
  const { base, next, folded, resolutions } = record
  return {
    ...record,
    base: { ...base },
    next: next.map((each) => ({ ...each, base: { ...each.base } })),
    folded: { ...folded, snapshot: { ...folded.snapshot } },
    resolutions: resolutions.map(copyResolution),
  }
}

function copyResolution({ conflict, choice }: Resolution): Resolution {
  if (choice.type !== 'bytes') return { conflict, choice }
  return { conflict, choice: { type: 'bytes', bytes: choice.bytes.slice() } }
}

function copyCheckpoint(checkpoint: Checkpoint): Checkpoint {
  return { ...checkpoint, snapshot: { ...checkpoint.snapshot }, time: { ...checkpoint.time } }
}
