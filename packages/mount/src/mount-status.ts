/** What a mount says of itself. */
export interface MountStatus {
  /** It is unmounted, and brings the rest to the server. */
  readonly isUnmounted?: boolean
  readonly connected: boolean
  readonly standing: string
  readonly pendingOps: number
  readonly pendingBytes: number
  /** How long the oldest of what is not at the server has been waiting. */
  readonly pendingMs: number
  readonly cacheBytes: number
  readonly knownInodes: number
  readonly seq: number
  /** Why the server takes nothing more from this mount; absent while it does. */
  readonly refused?: string
  readonly errors: readonly string[]
  /** What others changed lately. */
  readonly log: readonly string[]
  /** Where late writes of a lost lease went. */
  readonly rescues: readonly string[]
}
