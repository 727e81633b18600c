import type { Ino, Name } from '@cairn/protocol'
import type { Kind } from '../filesystem/inode.ts'

export const conflictKinds = [
  'edit/edit',
  'edit/delete',
  'add/add',
  'rename/rename',
  'rename/delete',
  'file/directory',
  'directory cycle',
  'mode',
  'hard link',
] as const
export type ConflictKind = (typeof conflictKinds)[number]

/** What one side has, where the sides do not agree. */
export interface ConflictSide {
  readonly ino: Ino
  readonly kind: Kind
  readonly path: readonly Name[]
}

/** A path that both sides changed since the base, in different ways. */
export interface Conflict {
  /**
   * Names the conflict as long as both sides stay as they are. When one changes the thing again it is another
   * conflict: a decision made for this one no longer stands, unless it was for whatever the layer has.
   */
  readonly id: string
  readonly kind: ConflictKind
  /**
   * Where the layer has it; where the target has it, if the layer does not; else where it was. Of something with
   * several names, the one that is in question.
   */
  readonly path: readonly Name[]
  /** Undefined where that side does not have it. */
  readonly base: ConflictSide | undefined
  readonly layer: ConflictSide | undefined
  readonly target: ConflictSide | undefined
}

/**
 * What a conflict is about, as the target has it. The rest of the id is about the layer's side: a decision for the
 * layer is about whatever the layer makes of the thing, any other decision about both sides as they were seen.
 */
export function subjectOf(conflict: string): string {
  return conflict.slice(0, conflict.lastIndexOf(':'))
}
