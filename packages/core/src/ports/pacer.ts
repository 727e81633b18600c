import type { TextMerge } from '../text/text-merge.ts'

/**
 * Lets other work of the process have its turn while a long piece of work goes on. Core has no timers, so a caller that has an
 * event loop to share passes one in.
 *
 * A rest is a wait like one for the store: use it only where the code could also wait for a node.
 */
export interface Pacer {
  /** Whether this turn of the event loop has lasted long enough. Cheap enough to ask for each entry of a tree. */
  isDue(): boolean
  /** Resolves when others have had their turn. */
  rest(): Promise<void>
  /** Merges text as `mergeText` does. Absent where that may hold up the process: for a large file it takes a second. */
  readonly mergeText?: (
    base: Uint8Array,
    ours: Uint8Array,
    theirs: Uint8Array,
  ) => Promise<TextMerge>
}

/** For a process that has nothing else to do, such as a test. */
export const noPacer: Pacer = { isDue: () => false, rest: () => Promise.resolve() }
