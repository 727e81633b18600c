import type { Conflict, Snapshot } from '@cairn/core'
import { describe, expect, it } from 'vitest'
import { mergeByIdentity, type PlainEntry } from './identity-merge.ts'
import { checkProperty } from './property.ts'
import {
  mergePlayed,
  movingScenarios,
  play,
  type Played,
  type Scenario,
  tangledScenarios,
} from './scenario.ts'
import { readThings } from './things.ts'

async function agrees(scenario: Scenario): Promise<void> {
  const played = await play(scenario)
  const wanted = mergeByIdentity(
    await readThings(played, played.base),
    await readThings(played, played.layer),
    await readThings(played, played.target),
  )
  const result = await mergePlayed(played)
  const conflicts = result.type === 'conflicted' ? result.conflicts : []
  expect(conflicts.map(formatConflict).sort()).toEqual(wanted.conflicts)
  if (result.type === 'merged')
    expect(await readEntries(played, result.snapshot)).toEqual(sortedEntries(wanted.tree))
}

function formatConflict({ kind, path, base, layer, target }: Conflict): string {
  const shown = [base, layer, target].map((side) => (side ? side.path.join('/') : '-'))
  return `${kind} ${path.join('/')}: ${shown.join(' | ')}`
}

async function readEntries(
  played: Played,
  snapshot: Snapshot,
): Promise<readonly [string, PlainEntry][]> {
  const entries = new Map<string, PlainEntry>()
  for (const { paths, kind, content, mode, uid, gid, xattr } of (
    await readThings(played, snapshot)
  ).values())
    for (const path of paths)
      entries.set(path, { kind, content, mode, uid, gid, xattr, names: paths.toSorted() })
  return sortedEntries(entries)
}

function sortedEntries(entries: ReadonlyMap<string, PlainEntry>): readonly [string, PlainEntry][] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
}

describe('merge oracle', () => {
  it('a merge with renames and hard links is the merge of a table of things, field by field', async () => {
    await checkProperty('by identity', 200, movingScenarios, agrees)
  })

  it('directories that are moved into each other merge by the same table', async () => {
    await checkProperty('by identity tangled', 120, tangledScenarios, agrees)
  })
})
