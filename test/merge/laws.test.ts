import type { Choice, Conflict, Snapshot } from '@cairn/core'
import { checkTree } from '@cairn/core/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideAll } from './decide.ts'
import { identify } from './identify.ts'
import { attributes, type Plain, type PlainTree, readPlain } from './plain-tree.ts'
import { checkProperty } from './property.ts'
import {
  isStill,
  mergePlayed,
  movingScenarios,
  play,
  type Played,
  stillScenarios,
  tangledScenarios,
} from './scenario.ts'
import { readThings, type Things } from './things.ts'

const sides = ['layer', 'target'] as const
type SideName = (typeof sides)[number]

const anyScenarios = fc.oneof(stillScenarios, movingScenarios, tangledScenarios)

async function expectTree(played: Played, snapshot: Snapshot): Promise<void> {
  expect(await checkTree(played.stores.nodes, snapshot)).toEqual([])
}

describe('merge laws', () => {
  it('if one side changed nothing, the result is the other side', async () => {
    await checkProperty('one side', 80, anyScenarios, async (scenario) => {
      const { base, ...played } = await play(scenario)
      for (const side of sides) {
        const changed = played[side]
        // The target's tree as it is, numbers, times and all.
        expect(await mergePlayed({ ...played, base, layer: base, target: changed })).toEqual({
          type: 'merged',
          snapshot: changed,
        })
        const result = await mergePlayed({ ...played, base, layer: changed, target: base })
        if (result.type === 'conflicted') throw new Error('one side cannot conflict')
        const all = { ...played, base }
        await expectTree(all, result.snapshot)
        expect(await readPlain(all, result.snapshot)).toEqual(await readPlain(all, changed))
      }
    })
  })

  it('layer and target are alike: swapped, they give the same tree or the same conflicts', async () => {
    await checkProperty('swapped', 80, anyScenarios, async (scenario) => {
      const played = await play(scenario)
      const { layer, target } = played
      const there = await mergePlayed(played)
      const back = await mergePlayed({ ...played, layer: target, target: layer })
      expect(await outcomeOf(played, back, true)).toEqual(await outcomeOf(played, there, false))
    })
  })

  it('a clean result is a tree, and holds every byte that either side wrote', async () => {
    await checkProperty('no byte lost', 120, anyScenarios, async (scenario) => {
      const played = await play(scenario)
      const result = await mergePlayed(played)
      if (result.type === 'conflicted') return
      await expectTree(played, result.snapshot)
      for (const side of sides) await expectWritten(played, side, result.snapshot)
      // Lines are merged only where the merge would have stopped.
      expect(await mergePlayed(played, { mergeText: true })).toEqual(result)
    })
  })

  it('decided for one side throughout, nothing is lost of that side', async () => {
    await checkProperty('decided', 120, anyScenarios, async (scenario) => {
      const played = await play(scenario)
      for (const side of sides) {
        const snapshot = await decideAll(played, () => ({ type: side }))
        if (!snapshot) throw new Error(`cannot be decided for the ${side}`)
        await expectTree(played, snapshot)
        await expectWritten(played, side, snapshot)
        if (isStill(scenario)) await expectChanges(played, side, snapshot)
      }
    })
  })

  it('decided one way or the other, it ends, and what comes out is a tree', async () => {
    await checkProperty('mixed', 120, anyScenarios, async (scenario) => {
      const played = await play(scenario)
      const { answers } = scenario
      let asked = 0
      const snapshot = await decideAll(played, () => answerOf(answers[asked++ % answers.length]!))
      if (snapshot) await expectTree(played, snapshot)
    })
  })
})

function answerOf(type: Choice['type']): Choice {
  return type === 'bytes' ? { type, bytes: new Uint8Array(300).fill(7) } : { type }
}

async function outcomeOf(
  played: Played,
  result: Awaited<ReturnType<typeof mergePlayed>>,
  swapped: boolean,
): Promise<unknown> {
  if (result.type === 'merged') return readPlain(played, result.snapshot)
  return result.conflicts.map((conflict) => sidesOf(conflict, swapped)).sort()
}

/** A cycle is about two directories; only the paths of the sides are the same from both. */
function sidesOf({ kind, layer, target }: Conflict, swapped: boolean): string {
  const pair = [layer, target].map((side) => side?.path.join('/') ?? '-')
  return [kind, ...(swapped ? pair.reverse() : pair)].join(' | ')
}

/** Whatever the side wrote is in a thing of the same kind. Where, is for the oracles to say. */
async function expectWritten(played: Played, side: SideName, snapshot: Snapshot): Promise<void> {
  const [base, layer, target] = await Promise.all([
    readThings(played, played.base),
    readThings(played, played.layer),
    readThings(played, played.target),
  ])
  const held = contentsOf(await readThings(played, snapshot))
  for (const { base: was, [side]: is } of identify(base, layer, target).values())
    if (is && was?.content !== is.content) expect(held).toContain(`${is.kind} ${is.content}`)
}

function contentsOf(things: Things): ReadonlySet<string> {
  return new Set([...things.values()].map(({ kind, content }) => `${kind} ${content}`))
}

/** Where nothing moved, every field that the side changed is at its path as the side has it. */
async function expectChanges(played: Played, side: SideName, snapshot: Snapshot): Promise<void> {
  const [base, changed, result] = await Promise.all(
    [played.base, played[side], snapshot].map((each) => readPlain(played, each)),
  )
  for (const path of new Set([...base!.keys(), ...changed!.keys()]))
    expectField(path, base!, changed!, result!)
}

function expectField(path: string, base: PlainTree, changed: PlainTree, result: PlainTree): void {
  const [was, is, became] = [base.get(path), changed.get(path), result.get(path)]
  if (!is) return expect(became?.kind, path).not.toBe(was!.kind)
  const known = was?.kind === is.kind ? was : undefined
  const fields = known ? (['content', ...attributes] as const) : (['kind', 'content'] as const)
  for (const field of fields as readonly (keyof Plain)[])
    if (known?.[field] !== is[field]) expect(became?.[field], `${field} of ${path}`).toBe(is[field])
}
