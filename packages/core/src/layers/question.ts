import type { Link } from '../filesystem/inode.ts'
import type { ConflictKind } from './conflict.ts'
import type { Changed } from './objects.ts'
import type { Choice } from '../ports/records.ts'
import type { SideName, ThreeSides } from './touched.ts'
import type { Version } from './version.ts'

/** The sides do not agree here, and a decision is needed. */
export interface MergeQuestion {
  readonly kind: ConflictKind
  readonly object: Changed
  /** The target's, when two things are in each other's way: then `object` is the layer's. */
  readonly other?: Changed
  /** The name it is about, where it is about one. */
  readonly link?: Link
  /** What the answer may change or drop of each side. The object itself, if not given. */
  readonly stakes?: Readonly<Record<SideName, readonly Version[]>>
  /** Whether an answer can be followed. Those that name a side can, if not given. */
  readonly accepts?: (choice: Choice) => boolean
}

/** What a merge asks of those who decide about conflicts. */
export interface Decisions {
  readonly sides: ThreeSides
  /** The answer, if there is one that can be followed; else the conflict is on record. */
  choose(question: MergeQuestion): Promise<Choice | undefined>
  chooseSide(question: Omit<MergeQuestion, 'accepts'>): Promise<SideName | undefined>
  /** Takes back what was asked about a deletion, because a wider question covers it. */
  withdraw(object: Changed): void
  /** Undefined when line-level merging was not asked for, or did not work out. */
  mergeText(object: Changed): Promise<Uint8Array | undefined>
}
