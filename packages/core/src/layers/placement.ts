import type { Ino, Name } from '@cairn/protocol'
import type { Link } from '../filesystem/inode.ts'
import type { Steps } from '../tree/steps.ts'
import type { Merged, MergeState } from './merge-object.ts'
import type { Changed } from './objects.ts'
import type { SideName } from './touched.ts'
import { withoutLinks } from './version.ts'

/** A thing under one of its names. */
export interface Placed {
  readonly state: MergeState
  readonly link: Link
}

/** Two things that want one name. */
export interface Collision {
  readonly link: Link
  readonly layers: MergeState
  readonly targets: MergeState
}

/** What the changed things become, by where they are. */
export class Placement {
  readonly states: ReadonlyMap<Ino, MergeState>
  readonly #directories = new Map<Ino, Map<Name, MergeState[]>>()
  #belowTarget: ReadonlyMap<Ino, readonly MergeState[]> | undefined
  #belowLayer: ReadonlyMap<Ino, readonly MergeState[]> | undefined

  private constructor(states: ReadonlyMap<Ino, MergeState>) {
    this.states = states
  }

  static *of(states: ReadonlyMap<Ino, MergeState>): Steps<Placement> {
    const placement = new Placement(states)
    for (const state of states.values()) {
      placement.#add(state)
      yield
    }
    return placement
  }

  put(state: MergeState, merged: Merged | undefined): void {
    for (const link of state.merged?.links ?? []) {
      const there = this.#at(link)
      there.splice(there.indexOf(state), 1)
    }
    state.merged = merged
    this.#add(state)
  }

  move(state: MergeState, links: readonly Link[]): void {
    this.put(state, { ...state.merged!, links })
  }

  /** What is in a directory. */
  childrenOf(directory: MergeState): readonly Placed[] {
    const parent = directory.object.id
    return [...(this.#directories.get(parent) ?? [])].flatMap(([name, states]) =>
      states.map((state) => ({ state, link: { parent, name } })),
    )
  }

  /** What changed of the things that a side has in a directory. */
  childrenOn(side: SideName, directory: Changed): readonly MergeState[] {
    return this.#below(side).get(directory.id) ?? []
  }

  *collisions(): Steps<readonly Collision[]> {
    const collisions: Collision[] = []
    for (const [parent, names] of this.#directories)
      for (const [name, [a, b]] of names) {
        yield
        if (!a || !b) continue
        const link = { parent, name }
        // A name comes from one side or the other, and neither has two things under one name.
        const isLayers = withoutLinks([link], a.object.layer?.links ?? []).length === 0
        collisions.push({ link, layers: isLayers ? a : b, targets: isLayers ? b : a })
      }
    return collisions
  }

  isAt(state: MergeState, link: Link): boolean {
    return this.#at(link).includes(state)
  }

  #add(state: MergeState): void {
    for (const link of state.merged?.links ?? []) this.#at(link).push(state)
  }

  #at({ parent, name }: Link): MergeState[] {
    let names = this.#directories.get(parent)
    if (!names) this.#directories.set(parent, (names = new Map()))
    let states = names.get(name)
    if (!states) names.set(name, (states = []))
    return states
  }

  #below(side: SideName): ReadonlyMap<Ino, readonly MergeState[]> {
    if (side === 'layer') return (this.#belowLayer ??= this.#groupByParent(side))
    return (this.#belowTarget ??= this.#groupByParent(side))
  }

  #groupByParent(side: SideName): ReadonlyMap<Ino, readonly MergeState[]> {
    const below = new Map<Ino, MergeState[]>()
    for (const state of this.states.values())
      for (const parent of new Set(state.object[side]?.links.map((link) => link.parent))) {
        const group = below.get(parent)
        if (group) group.push(state)
        else below.set(parent, [state])
      }
    return below
  }
}
