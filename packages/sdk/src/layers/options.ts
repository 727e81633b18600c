import type { LayerState } from '@cairn/protocol'
import type { RequestOptions } from '../client/deadline.ts'
import type { PageOptions } from '../files/list.ts'

/** Options of calls that change something. */
export interface ChangeOptions extends RequestOptions {
  /** The same key again is the same request again: it gets the first answer. One of its own for each call unless given. */
  readonly idempotencyKey?: string | undefined
}

/** Options of new layers. */
export interface LayerSettings {
  /** How much the layer may add to its base; without end unless given. */
  readonly maxBytes?: number | undefined
  readonly maxFiles?: number | undefined
  /** Make a checkpoint after so long a time without a change. */
  readonly autoCheckpointMs?: number | undefined
}

export interface CreateLayerOptions extends ChangeOptions, LayerSettings {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  readonly message?: string | undefined
  /** The layer to stand on; `main` unless given. */
  readonly parent?: string | undefined
  /** A checkpoint of the parent to start from; how it is now unless given. */
  readonly at?: string | undefined
}

export interface ForkLayerOptions extends Omit<CreateLayerOptions, 'parent'> {
  /** A path below the layer's own, to be limited to; the same unless given. */
  readonly path?: string | undefined
}

export interface ListLayersOptions extends PageOptions {
  /** `key=value` */
  readonly tag?: string | undefined
  readonly state?: LayerState | undefined
  /** Those made from this layer, or from `main`. */
  readonly parent?: string | undefined
}

export interface UpdateLayerOptions extends ChangeOptions {
  readonly name?: string | undefined
  /** Set, or taken away with null; others stay. */
  readonly tags?: Readonly<Record<string, string | null>> | undefined
  readonly message?: string | undefined
  /** How much it may add to its base; null for as much as it likes. */
  readonly maxBytes?: number | null | undefined
  readonly maxFiles?: number | null | undefined
  /** Make a checkpoint after so long a time without a change; null for never. */
  readonly autoCheckpointMs?: number | null | undefined
}

export interface RollbackOptions extends ChangeOptions {
  /** A checkpoint: its id, label or tool call. The base unless given. */
  readonly to?: string | undefined
  /** Instead: how it was before that call of an agent's tool. */
  readonly beforeToolCall?: string | undefined
}

export interface CheckpointOptions extends ChangeOptions {
  readonly id?: string | undefined
  readonly label?: string | undefined
  /** The call of an agent's tool that is about to be made: `rollback` finds the checkpoint by it. */
  readonly toolCall?: string | undefined
}

export interface MergeOptions extends ChangeOptions {
  readonly message?: string | undefined
  /** Merge files that both sides edited line by line, where the lines allow it. */
  readonly merge?: boolean | undefined
}

export interface PickOptions extends MergeOptions {
  /** Tells what would happen, and changes nothing. */
  readonly dryRun?: boolean | undefined
}

export interface CommitOptions extends PickOptions {
  /** Commits the layer as it was then. */
  readonly checkpoint?: string | undefined
}

/** What the layer has, what its parent has, or these bytes instead. */
export type ResolveChoice = 'layer' | 'target' | { readonly content: string | Uint8Array }

export interface DiffOptions extends RequestOptions {
  /**
   * `base`, `head`, `parent`, a checkpoint of the layer, another layer or `main`, or a checkpoint of one as
   * `LAYER@CHECKPOINT`. `base` unless given.
   */
  readonly from?: string | undefined
  /** The same; `head` unless given. */
  readonly to?: string | undefined
  /** Only what is there or below. */
  readonly path?: string | undefined
}
