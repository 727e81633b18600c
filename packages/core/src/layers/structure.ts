import { type Ino, rootIno } from '@cairn/protocol'
import type { Link } from '../filesystem/inode.ts'
import type { ConflictKind } from './conflict.ts'
import { keep, type Merged, type SideName } from './merge-object.ts'
import type { Changed, ThreeSides } from './objects.ts'
import type { Choice } from './resolution.ts'
import { hasLink } from './version.ts'

/** A thing and what it becomes; undefined when it goes away. */
export interface State {
  readonly object: Changed
  merged: Merged | undefined
}

export type States = Map<Ino, State>

export interface StructureContext {
  readonly sides: ThreeSides
  choose(kind: ConflictKind, object: Changed, other?: Changed): Choice | undefined
  /** Takes back a conflict that a wider one explains. */
  withdraw(object: Changed): void
}

/**
 * What each thing became by itself must fit together as a tree: one thing at a place, every directory there,
 * none inside itself. Deciding one clash may bring up another, so it is asked until nothing moves.
 */
export async function fitTogether(context: StructureContext, states: States): Promise<void> {
  for (;;) {
    if (await fixCollision(context, states)) continue
    if (await fixMissingParent(context, states)) continue
    if (!(await fixCycle(context, states))) return
  }
}

/** Two things at one place: each side put its own there. */
async function fixCollision(context: StructureContext, states: States): Promise<boolean> {
  const taken = new Map<string, State>()
  for (const state of states.values())
    for (const link of state.merged?.links ?? []) {
      const place = `${link.parent}/${link.name}`
      const other = taken.get(place)
      if (!other) taken.set(place, state)
      else if (await decideCollision(context, states, link, state, other)) return true
    }
  return false
}

async function decideCollision(
  context: StructureContext,
  states: States,
  link: Link,
  a: State,
  b: State,
): Promise<boolean> {
  const isLayers = (state: State): boolean => hasLink(state.object.layer?.links ?? [], link)
  const [layers, targets] = isLayers(a) && !isLayers(b) ? [a, b] : [b, a]
  context.withdraw(layers.object)
  context.withdraw(targets.object)
  const choice = context.choose(collisionKind(link, layers, targets), layers.object, targets.object)
  if (!choice) return false
  if (choice.type === 'bytes')
    targets.merged = targets.merged && { ...targets.merged, content: { bytes: choice.bytes } }
  const dropped = choice.type === 'layer' ? targets : layers
  await giveUp(context, states, dropped, link, choice.type === 'layer' ? 'layer' : 'target')
  return true
}

function collisionKind(link: Link, a: State, b: State): ConflictKind {
  const isDirectory = (state: State): boolean => state.merged?.inode.kind === 'directory'
  if (isDirectory(a) !== isDirectory(b)) return 'file/directory'
  const wasThere = (state: State): boolean => hasLink(state.object.base?.links ?? [], link)
  return wasThere(a) || wasThere(b) ? 'edit/edit' : 'add/add'
}

/** Takes one name from a thing; with its last name it goes back to what the favoured side has of it. */
async function giveUp(
  context: StructureContext,
  states: States,
  state: State,
  link: Link,
  favoured: SideName,
): Promise<void> {
  const links = state.merged!.links.filter((other) => !hasLink([link], other))
  if (links.length > 0) state.merged = { ...state.merged!, links }
  else await revert(context, states, state, favoured)
}

/** Makes a thing, and all that would be left below it, what `side` has. */
async function revert(
  context: StructureContext,
  states: States,
  state: State,
  side: SideName,
): Promise<void> {
  const wasDirectory = state.merged?.inode.kind === 'directory'
  state.merged = keep(state.object, side)
  if (state.merged || !wasDirectory) return
  for (const below of await childrenOf(context, states, state))
    await revert(context, states, below, side)
}

async function childrenOf(
  context: StructureContext,
  states: States,
  directory: State,
): Promise<readonly State[]> {
  const { id, target } = directory.object
  // What neither side touched is known to the target alone; from now on it is part of the merge.
  for (const { ino } of target ? await context.sides.target.children(target.ino) : []) {
    const version = await context.sides.target.version(ino)
    const known = [...states.values()].some(({ object }) => object.target?.ino === ino)
    if (!version || known) continue
    const object = { id: ino, base: version, layer: undefined, target: version, editedBy }
    states.set(ino, { object, merged: keep(object, 'target') })
  }
  return [...states.values()].filter(({ merged }) =>
    merged?.links.some(({ parent }) => parent === id),
  )
}

const editedBy = { layer: false, target: false }

/** Something is in a directory that the other side took away. */
async function fixMissingParent(context: StructureContext, states: States): Promise<boolean> {
  for (const state of states.values())
    for (const link of state.merged?.links ?? []) {
      const parent = states.get(link.parent)
      if (!parent || parent.merged) continue
      const { kind, usurper } = missingParentKind(states, state, parent)
      const choice = context.choose(kind, state.object)
      if (!choice) continue
      const deleter = parent.object.layer ? 'target' : 'layer'
      if (choice.type === deleter) await giveUp(context, states, state, link, deleter)
      else {
        parent.merged = keep(parent.object, deleter === 'layer' ? 'target' : 'layer')
        if (usurper) usurper.merged = undefined
      }
      return true
    }
  return false
}

function missingParentKind(
  states: States,
  state: State,
  parent: State,
): { kind: ConflictKind; usurper: State | undefined } {
  const places = (parent.object.target ?? parent.object.layer)?.links ?? []
  const usurper = [...states.values()].find(({ merged }) =>
    merged?.links.some((link) => hasLink(places, link)),
  )
  if (usurper) return { kind: 'file/directory', usurper }
  return { kind: state.object.base ? 'rename/delete' : 'edit/delete', usurper }
}

/** Each side moved a directory into what the other moved into it. */
async function fixCycle(context: StructureContext, states: States): Promise<boolean> {
  for (const state of states.values()) {
    const cycle = await findCycle(context, states, state)
    if (!cycle) continue
    const moved = cycle.find(({ object }) => object.layer && object.target) ?? state
    const choice = context.choose('directory cycle', moved.object)
    if (!choice || choice.type === 'bytes') continue
    for (const each of cycle) each.merged = keep(each.object, choice.type) ?? each.merged
    return true
  }
  return false
}

async function findCycle(
  context: StructureContext,
  states: States,
  start: State,
): Promise<readonly State[] | undefined> {
  if (start.merged?.inode.kind !== 'directory') return undefined
  const seen = new Set<Ino>()
  const cycle: State[] = []
  for (let at: Ino = start.object.id; at !== rootIno;) {
    // A loop that does not contain `start` is found when one of its own members is.
    if (seen.has(at)) return at === start.object.id ? cycle : undefined
    seen.add(at)
    const state = states.get(at)
    if (state) cycle.push(state)
    const parent = state
      ? state.merged?.links[0]?.parent
      : (await context.sides.target.inode(at))?.home?.parent
    if (parent === undefined) return undefined
    at = parent
  }
  return undefined
}
