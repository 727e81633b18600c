import type { Hash } from '@cairn/protocol'

/** A block that has arrived. */
export interface UploadedBlock {
  readonly number: number
  /** Its bytes, zeros at the end included. */
  readonly size: number
  /** Undefined when it is all zeros. `length` is without the zeros at the end. */
  readonly blob: { readonly id: Hash; readonly length: number } | undefined
}

/** Uploads in blocks, where every server sees them. */
export interface UploadStore {
  create(workspace: string, id: string, createdAtMs: number): Promise<void>
  /** False when the workspace has no such upload. */
  exists(workspace: string, id: string): Promise<boolean>
  /** Again is fine: the newest counts. False, and nothing kept, when there is no such upload (any more). */
  putBlock(id: string, block: UploadedBlock): Promise<boolean>
  /** Ascending by number. */
  blocks(id: string): Promise<readonly UploadedBlock[]>
  remove(id: string): Promise<void>
  /** Forgets those of a workspace that were begun before. */
  removeOlder(workspace: string, createdBeforeMs: number): Promise<void>
}
