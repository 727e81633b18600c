import type { NamedDentry, View } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'

/** What a walk meets: where it is below the directory it began in. */
export interface Walked {
  readonly ino: Ino
  readonly path: readonly Name[]
}

interface Level {
  readonly ino: Ino
  readonly path: readonly Name[]
  after: Name | undefined
  /** Read, and not yet met. */
  entries: readonly NamedDentry[]
  next: number
}

const entriesAtOnce = 100

/**
 * Up to `limit` of what is below a directory, depth first, parents before children, from after `after`. A path is a
 * position that stays: what is gone meanwhile is passed over, what is new behind it is met.
 */
export function walkFrom(
  view: View,
  root: Ino,
  after: readonly Name[],
  limit: number,
): readonly Walked[] {
  const levels = levelsTo(view, root, after)
  const met: Walked[] = []
  while (met.length < limit) {
    const level = levels.at(-1)
    if (!level) break
    const entry = nextOf(view, level, limit - met.length)
    if (!entry) {
      levels.pop()
      continue
    }
    const { name, ino, kind } = entry
    const path = [...level.path, name]
    met.push({ ino, path })
    if (kind === 'directory') levels.push(levelOf(ino, path))
  }
  return met
}

/** One level for each directory on the way to `after` that is still there; the innermost goes on first. */
function levelsTo(view: View, root: Ino, after: readonly Name[]): Level[] {
  const levels = [levelOf(root, [])]
  for (const [depth, name] of after.entries()) {
    const level = levels.at(-1)!
    level.after = name
    const child = view.child(level.ino, name)
    if (child?.kind !== 'directory') break
    levels.push(levelOf(child.ino, after.slice(0, depth + 1)))
  }
  return levels
}

function levelOf(ino: Ino, path: readonly Name[]): Level {
  return { ino, path, after: undefined, entries: [], next: 0 }
}

function nextOf(view: View, level: Level, wanted: number): NamedDentry | undefined {
  if (level.next === level.entries.length) {
    level.entries = view.entries(level.ino, level.after, Math.min(wanted, entriesAtOnce))
    level.next = 0
  }
  const entry = level.entries[level.next++]
  if (!entry) return undefined
  level.after = entry.name
  return entry
}
