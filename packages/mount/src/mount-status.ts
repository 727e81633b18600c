import type { RescueOutcome } from '@cairn/protocol'
import type { DeferringClass } from './data/spool-record.ts'

/** Changes that the server does not have. */
export interface OnlyHere {
  readonly ops: number
  readonly bytes: number
  /** The age of the oldest. */
  readonly ms: number
}

/** One directory of a mount that writes beside others. */
export interface DirectoryState {
  readonly path: string
  readonly state: 'held' | 'shared' | 'waiting'
  readonly why: string
}

/** Where a mount that has the lease acknowledges changes on its own. */
export interface DirectoryStates {
  /** The state of directories that no count includes. */
  readonly rest: 'held' | 'shared'
  readonly held: number
  readonly shared: number
  readonly waiting: number
  /** At most 20 of them, those first that wait. */
  readonly named: readonly DirectoryState[]
}

/** What a mount says of itself. */
export interface MountStatus {
  /** It is unmounted, and brings the rest to the server. */
  readonly isUnmounted?: boolean
  /** It is not usable yet, or a new daemon takes it over: see `waitingFor`. */
  readonly isOpening?: boolean
  /** What keeps it from going on: the server, or room on the disk. Absent where nothing does. */
  readonly waitingFor?: string
  /** The server answers. */
  readonly connected: boolean
  /** How long nothing has been heard from the server. */
  readonly silentMs?: number
  readonly standing: string
  /** Absent without the lease: then the server decides everywhere. */
  readonly directories?: DirectoryStates
  readonly pendingOps: number
  readonly pendingBytes: number
  /** How long the oldest of what is not at the server has been waiting. */
  readonly pendingMs: number
  /** What exists only here because of its class; absent while the mount opens. */
  readonly onlyHere?: Readonly<Record<DeferringClass, OnlyHere>>
  readonly cacheBytes: number
  readonly knownInodes: number
  readonly seq: number
  /** Why the server takes nothing more from this mount; absent while it does. */
  readonly refused?: string
  readonly errors: readonly string[]
  /** What others changed lately. */
  readonly log: readonly string[]
  /** Where late writes of a lost lease went. */
  readonly rescues: readonly RescueOutcome[]
}
