import { describe, expect, it } from 'vitest'
import { explore } from './explore.ts'
import { scenarios } from './scenarios.ts'

/** For longer runs: `CAIRN_RUNS=50 npx vitest run test/interleavings`. */
const statesMax = 250 * Number(process.env['CAIRN_RUNS'] ?? 1)
/** Ends a hang, nothing else. */
const timeout = 3_600_000

const byName = (name: string) => scenarios.find((scenario) => scenario.name === name)!

describe('three sessions and three directories, in every order', () => {
  for (const scenario of scenarios)
    it(scenario.name, { timeout }, async () => {
      const { fault, states, detours, isWhole } = await explore(scenario, statesMax)
      const extent = isWhole ? 'all orders' : `all with ${detours} detours`
      console.log(`${scenario.name}: ${states} states, ${extent}`)
      expect(fault?.what, fault?.path.join('\n')).toBeUndefined()
    })

  it.each([
    [
      'yield',
      'two holders work in the directory that a third one looks into',
      /takes 2 for its own/,
    ],
    ['forget', 'two sessions look into a directory in which a holder works', /takes for known/],
    ['beside', 'the connection of a holder that has looked breaks', /takes for known/],
  ] as const)('mounts that say they did a %s, and did not, are found', async (lie, name, what) => {
    const { fault } = await explore({ ...byName(name), lies: [lie] }, 2000)
    expect(fault?.what).toMatch(what)
  })
})
