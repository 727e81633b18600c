import type { BranchId } from '@cairn/protocol'
import type { LeaseRecord } from './lease.ts'

/** Leases live where every server sees them. */
export interface LeaseStore {
  get(branch: BranchId): Promise<LeaseRecord | undefined>
  /** False, and nothing changed, unless the stored version is one below the record's (0 when there is none). */
  put(record: LeaseRecord): Promise<boolean>
}
