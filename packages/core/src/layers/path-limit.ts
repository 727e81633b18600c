import { type ByteString, CairnError, formatPath, type Ino, type Name } from '@cairn/protocol'
import type { Op } from '../filesystem/op.ts'
import { pathOf } from '../filesystem/resolve.ts'
import type { View } from '../filesystem/view.ts'
import { type Steps, takeSteps } from '../tree/steps.ts'

/** Refuses what would change something outside of a layer's path. Throws `outside_layer`. */
export function requireInside(view: View, op: Op, path: ByteString): void {
  checkPlaces((ino) => pathOf(view, ino), op, namesOf(path))
}

/**
 * The same for a whole batch, as one finds the tree before it: what moves inside of it stays inside, so only what it
 * makes itself must be known besides.
 */
export function* requireAllInside(view: View, ops: readonly Op[], path: ByteString): Steps<void> {
  const root = namesOf(path)
  const known = new Map<Ino, readonly Name[] | undefined>()
  const locate = (ino: Ino): readonly Name[] | undefined => {
    if (!known.has(ino)) known.set(ino, pathOf(view, ino))
    return known.get(ino)
  }
  yield* takeSteps(ops, (op) => {
    checkPlaces(locate, op, root)
    const parent = op.type === 'create' ? locate(op.parent) : undefined
    if (op.type === 'create' && parent) known.set(op.ino, [...parent, op.name])
  })
}

/** Undefined for what has no name, or is not there. */
type Locate = (ino: Ino) => readonly Name[] | undefined

function checkPlaces(locate: Locate, op: Op, root: readonly Name[]): void {
  for (const place of placesOf(locate, op)) {
    if (isBelow(place, root)) continue
    // The way to the layer's own path may be made.
    if (op.type === 'create' && op.kind === 'directory' && isBelow(root, place)) continue
    const shown = formatPath(place)
    throw new CairnError('outside_layer', {
      what: `change ${shown}`,
      reason: `the layer may only change ${formatPath(root)}`,
      subject: shown,
    })
  }
}

/** Whether an operation changes something at the path or below it, as one finds the tree before it. */
export function concerns(view: View, op: Op, path: readonly Name[]): boolean {
  return placesOf((ino) => pathOf(view, ino), op).some((place) => isBelow(place, path))
}

export function namesOf(path: ByteString): Name[] {
  return path.split('/').filter((part) => part !== '') as Name[]
}

export function isBelow(path: readonly Name[], directory: readonly Name[]): boolean {
  return directory.every((name, index) => path[index] === name)
}

/**
 * The names an operation is about. For a file with several names one of them: a caller with a name
 * inside may write. A file without a name belongs to the client that has it open; the rules refuse
 * an absent one.
 */
function placesOf(locate: Locate, op: Op): readonly (readonly Name[])[] {
  switch (op.type) {
    case 'create':
    case 'unlink':
    case 'rmdir':
      return placeOf(locate, op.parent, op.name)
    case 'link':
      return [...placeOf(locate, op.parent, op.name), ...ownPlace(locate, op.ino)]
    case 'rename':
      return [...placeOf(locate, op.parent, op.name), ...placeOf(locate, op.newParent, op.newName)]
    case 'reap':
      return []
    case 'setattr':
    case 'write':
    case 'append':
    case 'fallocate':
    case 'copy':
    case 'setxattr':
    case 'removexattr':
      return ownPlace(locate, op.ino)
  }
}

function placeOf(locate: Locate, parent: Ino, name: Name): (readonly Name[])[] {
  const directory = locate(parent)
  return directory ? [[...directory, name]] : []
}

function ownPlace(locate: Locate, ino: Ino): (readonly Name[])[] {
  const path = locate(ino)
  return path ? [path] : []
}
