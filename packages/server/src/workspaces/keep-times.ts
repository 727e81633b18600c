/** How long unneeded things stay. */
export interface KeepTimes {
  /**
   * Content that nothing points at. Everything a server does between finding content and pointing at it must be over
   * by then, and what it remembers be renewed.
   */
  readonly graceMs: number
  /** Layers that are over, what was deleted, what was rolled back, what late writers may come back to. */
  readonly retentionMs: number
}

const dayMs = 24 * 60 * 60 * 1000

export const ordinaryKeepTimes: KeepTimes = { graceMs: dayMs, retentionMs: 7 * dayMs }

/** How often what rests on memory is renewed, and garbage collected: several times in a grace time. */
export function renewEveryMs({ graceMs }: KeepTimes): number {
  return graceMs / 4
}
