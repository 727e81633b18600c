export const whos = ['a', 'b', 'c'] as const
export type Who = (typeof whos)[number]

/** Directories below the root, which are there from the beginning. Each has a file of its name in it. */
export const places = ['p', 'q', 'r'] as const
export type Place = (typeof places)[number]

/** What a program on one of the mounts does. */
export type Action =
  | { readonly does: 'create' | 'contend' | 'mkdir' | 'remove' | 'look'; readonly in: Place }
  /** In a directory that was made, if the mount knows one. */
  | { readonly does: 'create in made'; readonly in: Place }
  /** The file of `in`, or the directory `in` itself. */
  | { readonly does: 'move' | 'move directory'; readonly in: Place; readonly to: Place }

/** What goes wrong, once each, at any moment. */
export type Trouble =
  /** Its connection breaks. */
  | { readonly type: 'cut'; readonly who: Who }
  | { readonly type: 'dies'; readonly who: Who }
  /** It is unmounted: it hands in everything and says goodbye. */
  | { readonly type: 'leaves'; readonly who: Who }
  /** It does not run for a while. What it had sent arrives, and its connection breaks before it runs again. */
  | { readonly type: 'freezes'; readonly who: Who }
  /** The server has not heard of it for a lease time. */
  | { readonly type: 'lapses'; readonly who: Who }
  /** A recall has lasted for too long. */
  | { readonly type: 'overdue' }
  /** The server waits for longer than a directory is contested. */
  | { readonly type: 'pause' }

export interface Scenario {
  readonly name: string
  /** They hold the lease together. */
  readonly holders: readonly Who[]
  /** What they have done, one after the other. */
  readonly before?: readonly (readonly [Who, Action])[]
  readonly programs: Readonly<Partial<Record<Who, readonly Action[]>>>
  /** Each is a request without a session that appends to the file of that directory, by its path. */
  readonly requests?: readonly Place[]
  readonly troubles?: readonly Trouble[]
  /** The quota: so many files and directories. There are six at the beginning. */
  readonly maxFiles?: number
  /** Timers fire at any moment, and not only when nothing else happens. */
  readonly isHasty?: boolean
  /** What mounts do not do, and say that they did: to see that it is found. */
  readonly lies?: readonly ('yield' | 'forget' | 'beside')[]
}
