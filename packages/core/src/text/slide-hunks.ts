import { type Hunk, joinHunks } from './hunk.ts'

/**
 * Gives each difference one of its equivalent positions: of a line added after an equal one, either
 * can be called the new one. A pure addition or removal moves to touch the hunk before it if it
 * can, so that both are one change; otherwise down as far as it goes. Both sides of a merge are
 * treated alike, so equal edits are found at equal places.
 */
export function slideHunks(hunks: readonly Hunk[], before: Int32Array, after: Int32Array): Hunk[] {
  return slideDown(slideUp(hunks, before, after), before, after)
}

function slideUp(hunks: readonly Hunk[], before: Int32Array, after: Int32Array): Hunk[] {
  const done: Hunk[] = []
  for (let hunk of hunks) {
    for (let previous = done.at(-1); previous !== undefined; previous = done.at(-1)) {
      const gap = hunk.oldStart - previous.oldStart - previous.oldLength
      if (roomAbove(hunk, gap, before, after) < gap) break
      hunk = joinHunks(previous, shift(hunk, -gap))
      done.pop()
    }
    done.push(hunk)
  }
  return done
}

function slideDown(hunks: readonly Hunk[], before: Int32Array, after: Int32Array): Hunk[] {
  const done: Hunk[] = []
  for (let hunk of hunks.toReversed()) {
    for (;;) {
      const next = done.at(-1)
      const gap = (next?.oldStart ?? before.length) - hunk.oldStart - hunk.oldLength
      const room = roomBelow(hunk, gap, before, after)
      hunk = shift(hunk, room)
      if (next === undefined || room < gap) break
      hunk = joinHunks(hunk, next)
      done.pop()
    }
    done.push(hunk)
  }
  return done.reverse()
}

function shift(hunk: Hunk, by: number): Hunk {
  return { ...hunk, oldStart: hunk.oldStart + by, newStart: hunk.newStart + by }
}

/** A hunk moves up by one when its last line equals the line before it. Replacements stay. */
function roomAbove(hunk: Hunk, most: number, before: Int32Array, after: Int32Array): number {
  if (hunk.oldLength > 0 && hunk.newLength > 0) return 0
  const [lines, start, length] = movable(hunk, before, after)
  let room = 0
  while (room < most && lines[start - 1 - room] === lines[start + length - 1 - room]) room++
  return room
}

function roomBelow(hunk: Hunk, most: number, before: Int32Array, after: Int32Array): number {
  if (hunk.oldLength > 0 && hunk.newLength > 0) return 0
  const [lines, start, length] = movable(hunk, before, after)
  let room = 0
  while (room < most && lines[start + room] === lines[start + length + room]) room++
  return room
}

function movable(
  hunk: Hunk,
  before: Int32Array,
  after: Int32Array,
): readonly [lines: Int32Array, start: number, length: number] {
  return hunk.oldLength > 0
    ? [before, hunk.oldStart, hunk.oldLength]
    : [after, hunk.newStart, hunk.newLength]
}
