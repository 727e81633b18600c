import type { BranchId, Ino, Trace } from '@cairn/protocol'

/** What mounts of a directory read in their first seconds. A hint, and nothing is lost with it. */
export interface TraceStore {
  /** Empty where none was put. */
  find(branch: BranchId, root: Ino): Promise<Trace>
  /** Replaces the one of that directory. A branch has traces of few directories: the oldest go. */
  put(branch: BranchId, root: Ino, trace: Trace, nowMs: number): Promise<void>
}
