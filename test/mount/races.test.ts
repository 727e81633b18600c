import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { runs } from './random/seeds.ts'
import { type Step, stepOf } from './random/step.ts'
import { walkTogether } from './random/walk.ts'

const rounds = 15 * runs
const all = Array.from({ length: rounds }, (_, round) => round)

describe.skipIf(noMount).each([2, 3])('%i mounts that rename at the same moment', (count) => {
  const letters = ['a', 'b', 'c'].slice(0, count)
  let site: Site
  let mounts: SiteMount[]

  beforeAll(async () => {
    site = await Site.open()
    mounts = []
    for (const _ of letters) mounts.push(await site.mount('/'))
  })
  afterAll(() => site.close())

  /** One round after the other, all mounts at once in each. Gives what everybody was answered. */
  async function race(
    directory: string,
    make: string,
    step: (letter: string, round: number) => Step,
  ): Promise<readonly (readonly unknown[])[]> {
    await mounts[0]!.sh(
      `mkdir ${directory}; cd ${directory}; for i in $(seq 0 ${rounds - 1}); do ${make}; done`,
    )
    return walkTogether(
      letters.map((letter, index) => ({
        directory: mounts[index]!.path(directory),
        steps: all.map((round) => step(letter, round)),
      })),
    )
  }

  /** Those without an answer count as too slow. */
  function winnersOf(turns: readonly (readonly unknown[])[], tooSlow: string): string[] {
    return turns.map((answers) => {
      const winners = letters.filter((_, index) => answers[index] !== tooSlow)
      expect(winners, String(answers)).toHaveLength(1)
      return winners[0]!
    })
  }

  /** What the files below a directory hold, the same on every mount. */
  async function filesIn(directory: string): Promise<string[]> {
    const look = `cd ${directory}; grep -r . . | cut -c 3-`
    const [first, ...others] = await Promise.all(mounts.map((mount) => mount.sh(look)))
    for (const other of others) expect(linesOf(other)).toEqual(linesOf(first!))
    return linesOf(first!)
  }

  const eachLetter = (command: string): string =>
    `for x in ${letters.join(' ')}; do ${command}; done`

  it('several files to one name with RENAME_NOREPLACE: one gets it, the others stay where they were', async () => {
    const turns = await race('files', eachLetter('echo $x > $x$i'), (letter, round) =>
      stepOf('noreplace', `${letter}${round}`, `to${round}`),
    )
    const winners = winnersOf(turns, 'EEXIST')
    const expected = all.flatMap((round) =>
      letters.map((letter) =>
        letter === winners[round] ? `to${round}:${letter}` : `${letter}${round}:${letter}`,
      ),
    )
    expect(await filesIn('files')).toEqual(expected.sort())
  })

  it('several full directories to one name: one gets it, the others stay where they were', async () => {
    const make = eachLetter('mkdir $x$i; echo $x > $x$i/f')
    const turns = await race('directories', make, (letter, round) =>
      stepOf('rename', `${letter}${round}`, `to${round}`),
    )
    const winners = winnersOf(turns, 'ENOTEMPTY')
    const expected = all.flatMap((round) =>
      letters.map((letter) =>
        letter === winners[round] ? `to${round}/f:${letter}` : `${letter}${round}/f:${letter}`,
      ),
    )
    expect(await filesIn('directories')).toEqual(expected.sort())
  })

  it('one file to several names: it has exactly one of them', async () => {
    const turns = await race('one', 'echo x > from$i', (letter, round) =>
      stepOf('rename', `from${round}`, `${letter}${round}`),
    )
    const winners = winnersOf(turns, 'ENOENT')
    const expected = all.map((round) => `${winners[round]}${round}:x`)
    expect(await filesIn('one')).toEqual(expected.sort())
  })

  it('several files to one name, replacing: all succeed, and one of them is there', async () => {
    const turns = await race('replaced', eachLetter('echo $x > $x$i'), (letter, round) =>
      stepOf('rename', `${letter}${round}`, `to${round}`),
    )
    expect(turns).toEqual(all.map(() => letters.map(() => 'done')))
    const left = (await filesIn('replaced')).map((line) => line.split(':'))
    expect(left).toHaveLength(rounds)
    expect(new Set(left.map(([name]) => name))).toEqual(new Set(all.map((round) => `to${round}`)))
    for (const [, letter] of left) expect(letters).toContain(letter)
  })
})

/** In an order that depends on no locale, as the expected ones are. */
function linesOf(text: string): string[] {
  return text.trim().split('\n').sort()
}
