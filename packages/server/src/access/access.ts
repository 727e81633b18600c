import type { ActorId, Grant } from '@cairn/protocol'
import type { Budget } from './budget.ts'

/** What the caller may do. */
export interface Access {
  readonly actor: ActorId
  readonly owner: string
  /** The id of an owner key's secret: what goes on ends with it. */
  readonly key?: string
  /** Absent for the owner's keys: all that is the owner's is allowed. */
  readonly scope?: Scope
}

/** The part of one workspace that a token is for. */
export interface Scope {
  /** The token's id. Those that were narrowed from one another share it. */
  readonly token: string
  /** The exact token: its id, and a mark for each time it was narrowed. */
  readonly identity: string
  /** The workspace's id. */
  readonly workspace: string
  readonly grant: Grant
  /** Absent where nothing is limited. */
  readonly budget?: Budget
}
