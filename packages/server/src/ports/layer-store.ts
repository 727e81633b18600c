import type { BranchId, CheckpointId, Hash, LayerState } from '@cairn/protocol'

/** What is stored of a layer besides its branch. */
export interface LayerRecord {
  readonly workspace: string
  readonly id: string
  readonly branch: BranchId
  readonly name: string | undefined
  /** `main` or a layer's id. */
  readonly parent: string
  /** As bytes; `/` for everything. */
  readonly path: string
  readonly tags: Readonly<Record<string, string>>
  /** As it was last seen. The branch's log says what it is. */
  readonly state: LayerState
  readonly message: string
  readonly createdBy: string
  /** ISO 8601, to the nanosecond: no two that one server makes have the same. */
  readonly createdAt: string
  readonly originRoot: Hash
  readonly originSeq: number
  /** ISO 8601: since when it is committed or abandoned. */
  readonly closedAt?: string | undefined
  /** Grows with each update. */
  readonly version: number
}

export interface LayerFilter {
  /** `key=value` */
  readonly tag?: string | undefined
  readonly state?: LayerState | undefined
  readonly parent?: string | undefined
}

export interface CheckpointLabel {
  readonly workspace: string
  readonly branch: BranchId
  readonly id: CheckpointId
  /** May be empty. */
  readonly label: string
  readonly toolCall: string | undefined
}

/** What was asked for beside a layer's or workspace's own nature. */
export interface Settings {
  readonly maxBytes?: number | undefined
  readonly maxFiles?: number | undefined
  /** A checkpoint is made by itself after so long a time without a change. */
  readonly autoCheckpointMs?: number | undefined
}

/** Layers of all workspaces: who they are, how they are called. A deleted one is found no more; its id stays taken. */
export interface LayerStore {
  /** False, and nothing changed, when the id or the name is taken by a branch of the workspace, or the parent is gone. */
  create(record: LayerRecord): Promise<boolean>
  find(workspace: string, id: string): Promise<LayerRecord | undefined>
  /** By a branch's id: what limits its writers. */
  findByBranch(branch: BranchId): Promise<LayerRecord | undefined>
  findByName(workspace: string, name: string): Promise<LayerRecord | undefined>
  /** In the order in which they were made, after that cursor. */
  list(
    workspace: string,
    filter: LayerFilter,
    after: string | undefined,
    limit: number,
  ): Promise<readonly LayerRecord[]>
  /**
   * Changes name, tags, state, message and when it was closed. False, and nothing changed, unless the stored version is one below, or
   * when the name is taken.
   */
  update(record: LayerRecord): Promise<boolean>
  /** Frees its name and id as names of its branch. False, and nothing changed, when there is none or a layer stands on it. */
  remove(workspace: string, id: string, deletedAt: string): Promise<boolean>
  /** Again is fine. */
  putLabel(label: CheckpointLabel): Promise<void>
  listLabels(branch: BranchId): Promise<readonly CheckpointLabel[]>
  findLabels(workspace: string, label: string): Promise<readonly CheckpointLabel[]>
  /** With its checkpoint. False when there was none. */
  removeLabel(branch: BranchId, id: CheckpointId): Promise<boolean>
  /** The settings of a layer, or of the whole workspace under `main`. Nothing is set by default. */
  findSettings(workspace: string, layer: string): Promise<Settings>
  putSettings(workspace: string, layer: string, settings: Settings): Promise<void>
  findAnswer(workspace: string, request: string): Promise<string | undefined>
  /** The first one stays. */
  putAnswer(workspace: string, request: string, answer: string): Promise<void>
}

/** Where a listing goes on after this layer. */
export function cursorOf({ createdAt, id }: LayerRecord): string {
  return `${createdAt} ${id}`
}

export function tagText(key: string, value: string): string {
  return `${key}=${value}`
}

/** Behind a colon stands whose name it is, where that is not to be told. */
export function shownName(name: string): string {
  return name.split(':')[0]!
}

export const recordsAtOnce = 500

export async function listAll(
  store: LayerStore,
  workspace: string,
  filter: LayerFilter,
): Promise<readonly LayerRecord[]> {
  const all: LayerRecord[] = []
  for (let after: string | undefined; ;) {
    const page = await store.list(workspace, filter, after, recordsAtOnce)
    all.push(...page)
    if (page.length < recordsAtOnce) return all
    after = cursorOf(page.at(-1)!)
  }
}
