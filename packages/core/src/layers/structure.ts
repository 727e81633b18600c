import type { Ino } from '@cairn/protocol'
import type { Link } from '../filesystem/inode.ts'
import { findCycles, type Cycle } from './cycles.ts'
import { keep, type MergeState } from './merge-object.ts'
import { isHardLinked } from './merge-links.ts'
import type { Nodes } from '../tree/nodes.ts'
import { type Collision, type Placed, Placement } from './placement.ts'
import type { Decisions, MergeQuestion } from './question.ts'
import type { SideName } from './touched.ts'
import { hasLink, type Version, withoutLinks } from './version.ts'

/**
 * What each thing became by itself must fit together as a tree: every directory there, one thing under a name,
 * no directory inside itself. A decision may bring up another question, so it is asked until nothing moves.
 */
export async function fitTogether(
  nodes: Nodes,
  decisions: Decisions,
  states: ReadonlyMap<Ino, MergeState>,
): Promise<void> {
  const placement = await nodes.run(Placement.of(states))
  const structure = new Structure(nodes, decisions, placement)
  structure.bringBackKept()
  for (let moved = true; moved;)
    moved =
      (await structure.keepParents()) ||
      (await structure.settleCollisions()) ||
      (await structure.settleCycles())
  structure.dropEmptied()
}

/** The steps say whether something moved. */
class Structure {
  readonly #nodes: Nodes
  readonly #decisions: Decisions
  readonly #placement: Placement
  /** Directories that one side deleted and that are there for what the other has in them. */
  readonly #restored = new Set<MergeState>()
  readonly #asked = new Set<string>()

  constructor(nodes: Nodes, decisions: Decisions, placement: Placement) {
    this.#nodes = nodes
    this.#decisions = decisions
    this.#placement = placement
  }

  /** A decision to keep a directory means the directory as it was, not an empty one. */
  bringBackKept(): void {
    for (const state of this.#placement.states.values())
      if (state.settled && state.merged && isDirectory(state) && isOneSided(state))
        this.#bringBack(state, keeperOf(state))
  }

  /** Something may be in a directory that the other side took away: then the directory stays for it. */
  async keepParents(): Promise<boolean> {
    let moved = false
    const { pacer } = this.#nodes
    for (const state of this.#placement.states.values()) {
      if (pacer.isDue()) await pacer.rest()
      for (const link of state.merged?.links ?? [])
        if (await this.#keepParent(state, link)) moved = true
    }
    return moved
  }

  async settleCollisions(): Promise<boolean> {
    let moved = false
    for (const collision of await this.#nodes.run(this.#placement.collisions()))
      if (await this.#settleCollision(collision)) moved = true
    return moved
  }

  async settleCycles(): Promise<boolean> {
    let moved = false
    const { target } = this.#decisions.sides
    for (const cycle of await findCycles(this.#nodes, this.#placement.states, target))
      if (await this.#settleCycle(cycle)) moved = true
    return moved
  }

  /** A restored directory whose content went elsewhere has no reason to be there. Children come first. */
  dropEmptied(): void {
    for (const directory of this.#restored)
      if (!directory.settled && this.#placement.childrenOf(directory).length === 0)
        this.#placement.put(directory, undefined)
  }

  async #keepParent(state: MergeState, link: Link): Promise<boolean> {
    const parent = this.#placement.states.get(link.parent)
    if (!parent || (parent.merged && !this.#restored.has(parent))) return false
    if (!(await this.#mayStay(state, link, parent))) return true
    this.#restore(parent)
    return false
  }

  /**
   * Includes the removed directories above it. This needs no question: their contents were asked
   * about.
   */
  #restore(directory: MergeState): void {
    let next: MergeState | undefined = directory
    while (next && !next.merged) {
      this.#restored.add(next)
      this.#placement.put(next, keep(next.object, keeperOf(next)))
      const [link]: readonly Link[] = next.merged!.links
      next = link && this.#placement.states.get(link.parent)
    }
  }

  /** Asks about what came into a directory that the other side took away, unless that was asked already. */
  async #mayStay(state: MergeState, link: Link, parent: MergeState): Promise<boolean> {
    const { object } = state
    const keeper = keeperOf(parent)
    const deleter = keeper === 'layer' ? 'target' : 'layer'
    const deletedAsWell = object.base !== undefined && !object[deleter]
    const place = `${object.id} ${link.parent}/${link.name}`
    if (state.settled || deletedAsWell || hasLink(object.base?.links, link)) return true
    if (this.#asked.has(place)) return true
    this.#asked.add(place)
    const choice = await this.#decisions.choose({
      kind: !object.base ? 'edit/delete' : isHardLinked(object) ? 'hard link' : 'rename/delete',
      object,
      link,
      stakes: this.#stakes(state, state),
      accepts: ({ type }) =>
        type === keeper || (type === deleter && this.#canGiveUp(state, link, deleter)),
    })
    if (choice?.type !== deleter) return true
    this.#giveUp(state, link, deleter)
    return false
  }

  async #settleCollision(collision: Collision): Promise<boolean> {
    const { link, layers, targets } = collision
    if (!this.#placement.isAt(layers, link) || !this.#placement.isAt(targets, link)) return false
    this.#withdraw(layers)
    this.#withdraw(targets)
    const fileOf = isFile(targets) ? targets : isFile(layers) ? layers : undefined
    const winnerOf = { layer: layers, target: targets, bytes: fileOf }
    const loserOf = (winner: MergeState): MergeState => (winner === layers ? targets : layers)
    const sideOf = (winner: MergeState): SideName => (winner === layers ? 'layer' : 'target')
    const choice = await this.#decisions.choose({
      ...collisionQuestion(collision),
      stakes: this.#stakes(layers, targets),
      accepts: ({ type }) => {
        const winner = winnerOf[type]
        return winner !== undefined && this.#canGiveUp(loserOf(winner), link, sideOf(winner))
      },
    })
    if (!choice) return false
    const winner = winnerOf[choice.type]!
    this.#giveUp(loserOf(winner), link, sideOf(winner))
    if (choice.type === 'bytes') this.#placement.put(winner, { ...winner.merged!, content: choice })
    if (isDirectory(winner) && isOneSided(winner)) this.#bringBack(winner, sideOf(winner))
    return true
  }

  async #settleCycle({ states, movedByLayer, movedByTarget }: Cycle): Promise<boolean> {
    const strangersTo = (side: SideName): readonly MergeState[] =>
      states.filter(
        ({ object, merged }) => object[side] && !hasLink(object[side].links, merged!.links[0]!),
      )
    const choice = await this.#decisions.choose({
      kind: 'directory cycle',
      object: movedByLayer.object,
      other: movedByTarget.object,
      accepts: ({ type }) =>
        type !== 'bytes' &&
        strangersTo(type).every((state) => this.#canGiveUp(state, state.merged!.links[0]!, type)),
    })
    if (!choice || choice.type === 'bytes') return false
    for (const state of strangersTo(choice.type))
      this.#giveUp(state, state.merged!.links[0]!, choice.type)
    return true
  }

  /** Whether there is another place for what both sides still have. Only one side's may be dropped. */
  #canGiveUp(state: MergeState, link: Link, favoured: SideName): boolean {
    const asked: Placed[] = [{ state, link }]
    for (const { state: next, link: name } of asked) {
      if (placesWithout(next, name, favoured).length > 0) continue
      if (!isOneSided(next)) return false
      asked.push(...this.#placement.childrenOf(next))
    }
    return true
  }

  /** Takes a name from a thing. With its last one it goes back to where the favoured side has it, or away. */
  #giveUp(state: MergeState, link: Link, favoured: SideName): void {
    const given: Placed[] = [{ state, link }]
    for (const { state: next, link: name } of given) {
      const links = placesWithout(next, name, favoured)
      next.refused.push(name)
      next.settled = true
      if (links.length > 0) {
        this.#placement.move(next, links)
        continue
      }
      given.push(...this.#placement.childrenOf(next))
      this.#placement.put(next, undefined)
    }
  }

  /** Puts back what one side has in a directory and the other took away with it. */
  #bringBack(directory: MergeState, side: SideName): void {
    const directories = [directory]
    for (const { object } of directories)
      for (const child of this.#placement.childrenOn(side, object)) {
        if (child.settled) continue
        const links = child.object[side]!.links.filter(({ parent }) => parent === object.id)
        if (!child.merged) this.#placement.put(child, { ...keep(child.object, side)!, links })
        else if (isHardLinked(child.object)) this.#addNames(child, links)
        if (isDirectory(child) && isOneSided(child)) directories.push(child)
      }
  }

  #addNames(state: MergeState, links: readonly Link[]): void {
    const { links: present } = state.merged!
    this.#placement.move(state, [...present, ...withoutLinks(links, present)])
  }

  /** A question about a place covers those about what was deleted there. */
  #withdraw(state: MergeState): void {
    const covered = [state]
    for (const next of covered) {
      // Under its other names it is still to be decided about.
      if (next.merged?.links.length !== 1) continue
      this.#decisions.withdraw(next.object)
      if (!isDirectory(next) || !isOneSided(next)) continue
      covered.push(...this.#placement.childrenOf(next).map((child) => child.state))
    }
  }

  #stakes(layers: MergeState, targets: MergeState): NonNullable<MergeQuestion['stakes']> {
    return { layer: this.#stakesOf('layer', layers), target: this.#stakesOf('target', targets) }
  }

  /** A thing as a side has it, with all that the side changed below it. */
  #stakesOf(side: SideName, { object }: MergeState): readonly Version[] {
    const stakes: Version[] = []
    const objects = [object]
    for (const next of objects) {
      const { [side]: version } = next
      if (version) stakes.push(version)
      if (version?.inode.kind !== 'directory') continue
      for (const child of this.#placement.childrenOn(side, next)) objects.push(child.object)
    }
    return stakes
  }
}

function collisionQuestion({ link, layers, targets }: Collision): MergeQuestion {
  const question = { object: layers.object, other: targets.object, link }
  if (isDirectory(layers) !== isDirectory(targets)) return { kind: 'file/directory', ...question }
  const wasThere = [layers, targets].some(({ object }) => hasLink(object.base?.links, link))
  return { kind: wasThere ? 'edit/edit' : 'add/add', ...question }
}

function placesWithout(state: MergeState, link: Link, favoured: SideName): readonly Link[] {
  const others = withoutLinks(state.merged!.links, [link])
  if (others.length > 0) return others
  return withoutLinks(state.object[favoured]?.links ?? [], [...state.refused, link])
}

/** What both sides have is never dropped, so of something that is gone one side has a version at most. */
function keeperOf({ object }: MergeState): SideName {
  return object.layer ? 'layer' : 'target'
}

function isDirectory({ merged }: MergeState): boolean {
  return merged?.inode.kind === 'directory'
}

function isFile({ merged }: MergeState): boolean {
  return merged?.inode.kind === 'file'
}

/** Deleted or never made by the other side. */
function isOneSided({ object }: MergeState): boolean {
  return !object.layer || !object.target
}
