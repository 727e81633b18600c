import { FsError, type Ino, type Name, rootIno } from '@cairn/protocol'
import { Misses } from '../tree/node-miss.ts'
import type { Steps } from '../tree/steps.ts'
import { EntryPages } from './entry-pages.ts'
import type { Op } from './op.ts'
import type { View } from './view.ts'

/**
 * No directory comes to stand deeper below the root than this. Every question about a path costs its depth, so a tree
 * that is a chain would make each of its entries as dear as a large directory. Linux has no such limit, but a path of
 * 4,095 bytes leads at most 2,047 levels down. Trees that are deeper already can be read, removed and moved upwards.
 */
export const levelsMax = 1000

/** Where a directory has just been put. */
interface Placed {
  readonly ino: Ino
  readonly depth: number
  /** Undefined for a new one. */
  readonly depthBefore: number | undefined
}

/** After an operation that is not in the log yet: ENAMETOOLONG where it puts a directory too deep. */
export function requireLevel(view: View, op: Op): void {
  for (const { depth, depthBefore } of placedBy(view, op))
    if (depth > levelsMax && depth > (depthBefore ?? 0)) throw new FsError('ENAMETOOLONG')
}

/**
 * The same for what is below a directory that was moved downwards. Costs the number of entries below it, so it is a
 * question for the server alone, which can ask it in steps.
 */
export function* requireLevelsBelow(view: View, op: Op): Steps<void> {
  if (!deepens(view, op)) return
  for (const { ino, depth } of placedBy(view, op))
    if (yield* hasMoreLevels(view, ino, levelsMax - depth)) throw new FsError('ENAMETOOLONG')
}

/** Whether an operation, which has been applied, moved a directory with others in it further down. */
export function deepens(view: View, op: Op): boolean {
  return placedBy(view, op).some(
    ({ ino, depth, depthBefore }) =>
      depthBefore !== undefined && depth > depthBefore && hasDirectories(view, ino),
  )
}

/**
 * The same for a whole tree that takes the place of another one. `directories` are those with another name or place
 * than before. Costs their number, and what is below those that were moved downwards.
 */
export function* requireLevelsOf(
  before: View,
  after: View,
  directories: readonly Ino[],
): Steps<void> {
  const misses = new Misses()
  for (const ino of directories) {
    try {
      yield* requireLevelOf(before, after, ino)
    } catch (error) {
      misses.note(error)
    }
    yield
  }
  misses.end()
}

function* requireLevelOf(before: View, after: View, ino: Ino): Steps<void> {
  const depth = depthOf(after, ino)
  const depthBefore = before.inode(ino) ? depthOf(before, ino) : 0
  if (depth <= depthBefore) return
  if (depth > levelsMax) throw new FsError('ENAMETOOLONG')
  // What is below a new one is new as well, and is asked about by itself.
  if (depthBefore === 0 || !hasDirectories(after, ino)) return
  if (yield* hasMoreLevels(after, ino, levelsMax - depth)) throw new FsError('ENAMETOOLONG')
}

function placedBy(view: View, op: Op): readonly Placed[] {
  if (op.type === 'create' && op.kind === 'directory')
    return [{ ino: op.ino, depth: 1 + depthOf(view, op.parent), depthBefore: undefined }]
  if (op.type !== 'rename') return []
  const moved = directoryAt(view, op.newParent, op.newName)
  const back = op.mode === 'exchange' ? directoryAt(view, op.parent, op.name) : undefined
  if (moved === undefined && back === undefined) return []
  const [from, to] = [1 + depthOf(view, op.parent), 1 + depthOf(view, op.newParent)]
  return [
    ...(moved === undefined ? [] : [{ ino: moved, depth: to, depthBefore: from }]),
    ...(back === undefined ? [] : [{ ino: back, depth: from, depthBefore: to }]),
  ]
}

function directoryAt(view: View, parent: Ino, name: Name): Ino | undefined {
  const dentry = view.child(parent, name)
  return dentry?.kind === 'directory' ? dentry.ino : undefined
}

/** How many levels a directory is below the root. */
function depthOf(view: View, directory: Ino): number {
  let depth = 0
  for (let at = directory; at !== rootIno; depth++) {
    const home = view.inode(at)?.home
    if (!home) break
    at = home.parent
  }
  return depth
}

/** Two links are its own name and its `.`; each further one is the `..` of a directory in it. */
function hasDirectories(view: View, ino: Ino): boolean {
  return (view.inode(ino)?.nlink ?? 0) > 2
}

function* hasMoreLevels(view: View, directory: Ino, levels: number): Steps<boolean> {
  const misses = new Misses()
  const stack = [new EntryPages(view, directory)]
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    try {
      const entry = top.next()
      if (!entry) stack.pop()
      else if (entry.kind === 'directory') {
        // The directory itself is the first on the stack.
        if (stack.length > levels) return true
        if (hasDirectories(view, entry.ino)) stack.push(new EntryPages(view, entry.ino))
      }
    } catch (error) {
      misses.note(error)
    }
    yield
  }
  misses.end()
  return false
}
