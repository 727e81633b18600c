import type { LayerState } from './api-layers.ts'

/** So many of a kind, and their bytes as they are stored. */
export interface Tally {
  readonly count: number
  readonly bytes: number
}

export interface ContentTally {
  readonly nodes: Tally
  readonly blobs: Tally
}

/** What goes, by name. */
export interface Gone {
  /** Deleted before the retention time began. */
  readonly workspaces: readonly {
    readonly id: string
    readonly name: string
    readonly deletedAt: string
  }[]
  /** Over since before the retention time began. */
  readonly layers: readonly {
    readonly workspace: string
    readonly id: string
    readonly name?: string
    readonly state: LayerState
    readonly closedAt: string
  }[]
  /** Those of these workspaces and layers, and of deleted layers. */
  readonly branches: readonly {
    readonly workspace: string
    readonly id: string
    /** The id of the layer that it was. */
    readonly layer?: string
  }[]
}

/** What a run of the garbage collector did, or with a dry run would do. */
export interface CollectReport {
  readonly dryRun: boolean
  /** Layers that had been over for the retention time, and are deleted now. */
  readonly layers: number
  /** Branches that went with their logs and checkpoints: of layers and workspaces that were deleted for so long. */
  readonly branches: number
  /** Checkpoints of lost leases that their holders will not ask for any more. */
  readonly checkpoints: number
  /** Over HTTP, of the asker's own workspaces: the numbers are of all. */
  readonly gone: Gone
  /** What is stored and needed. */
  readonly kept: ContentTally
  /** Unreachable data. */
  readonly removed: ContentTally
  /** What nothing needs, in its grace time. */
  readonly waiting: ContentTally
}
