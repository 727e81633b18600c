import type { Place } from './place.ts'

/** One fact that takes two mounts, `a` and `b`, of the same branch. Both places are the same empty directory. */
export interface TwoMountQuestion {
  readonly fact: string
  readonly ask: (a: Place, b: Place) => unknown
  readonly expect: unknown
  /** Not so yet, and why. */
  readonly todo?: string
  /** Why ext4 answers otherwise. */
  readonly ofOurs?: string
}

/** One fact that holds after everything was handed in and the branch is mounted anew, with nothing cached. */
export interface RemountQuestion {
  readonly fact: string
  readonly make: (place: Place) => unknown
  /** Undefined: what is seen afterwards is what `make` gave. */
  readonly look: (place: Place) => unknown
  readonly expect?: unknown
  readonly todo?: string
}
