import { describe, expect, it } from 'vitest'
import { mergeByPath } from './path-merge.ts'
import { readPlain } from './plain-tree.ts'
import { checkProperty } from './property.ts'
import { isStill, mergePlayed, play, type Scenario, stillScenarios } from './scenario.ts'

async function agrees(scenario: Scenario): Promise<void> {
  if (!isStill(scenario)) return
  const played = await play(scenario)
  const wanted = mergeByPath(
    await readPlain(played, played.base),
    await readPlain(played, played.layer),
    await readPlain(played, played.target),
  )
  const result = await mergePlayed(played)
  const conflicts = result.type === 'conflicted' ? result.conflicts : []
  expect(conflicts.map(({ kind, path }) => `${kind} ${path.join('/')}`).sort()).toEqual(
    wanted.conflicts,
  )
  if (result.type === 'merged')
    expect(new Map(await readPlain(played, result.snapshot))).toEqual(new Map(wanted.tree))
}

describe('merge oracle', () => {
  it('a merge without renames and hard links is the merge of three listings, path by path', async () => {
    await checkProperty('by path', 400, stillScenarios, agrees)
  })
})
