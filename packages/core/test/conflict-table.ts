import { expect, it } from 'vitest'
import type { ConflictKind } from '../src/layers/conflict.ts'
import { type Histories, MergeCase } from './merge-case.ts'

interface Case extends Histories {
  /** As `kind path: base | layer | target`, directories with a slash, symlinks with an at sign. */
  readonly gives: readonly `${ConflictKind} ${string}`[]
}

async function expectConflicts({ gives, ...histories }: Case): Promise<void> {
  const there = await MergeCase.make(histories)
  expect(await there.conflicts()).toEqual(gives)
  // Who is called layer and who target decides about nothing but the names of the sides.
  const sides = (lines: readonly string[], swap: boolean): readonly string[] =>
    lines.map((line) => sidesOf(line, swap)).sort()
  expect(sides(await there.swapped().conflicts(), true)).toEqual(sides(gives, false))
}

function sidesOf(line: string, swap: boolean): string {
  const [, kind, sides] = /^(.*?) \S*: (.*)$/.exec(line)!
  const [was, layer, target] = sides!.split(' | ')
  // A cycle is about two directories. The base shown is that of the layer's.
  const base = kind === 'directory cycle' ? '' : was
  return [kind, base, ...(swap ? [target, layer] : [layer, target])].join(' | ')
}

/** One test for each row. */
export function conflictTable(cases: Readonly<Record<string, Case>>): void {
  for (const [title, row] of Object.entries(cases)) it(title, () => expectConflicts(row))
}
