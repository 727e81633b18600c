import type { Pacer } from '@cairn/core'
import { describe, expect, it } from 'vitest'
import { IgnoreFileReader, requireFewRules } from './rules.ts'

const noPacer: Pacer = { isDue: () => false, rest: () => Promise.resolve() }

/** Which of the names a rule ignores. */
async function ignored(text: string, ...names: readonly string[]): Promise<readonly string[]> {
  const rules = await new IgnoreFileReader(noPacer).read(text)
  return names.filter((name) => rules?.ask(name, false) === 'ignore')
}

describe('an ignore file', () => {
  it('a rule with a million blanks is read in one pass', async () => {
    expect(await ignored(`${' '.repeat(1 << 20)}x\ny`, 'x', 'y')).toEqual(['y'])
  })

  it('blanks at the end of a line count only behind a backslash', async () => {
    expect(await ignored('a  \nb\\ \nc\\   \nd \r', 'a', 'b ', 'b', 'c ', 'd')).toEqual([
      'a',
      'b ',
      'c ',
      'd',
    ])
  })

  it('lets other work go on between two of its lines', async () => {
    let rests = 0
    const rest = async (): Promise<void> => void rests++
    await new IgnoreFileReader({ isDue: () => true, rest }).read('*a*b\n'.repeat(100))
    expect(rests).toBeGreaterThanOrEqual(100)
  })

  it('an ignore file with thousands of different patterns: refused, and the error says what to do', async () => {
    const lines = Array.from({ length: 6000 }, (_, at) => `*a*${at}`)
    await expect(new IgnoreFileReader(noPacer).read(lines.join('\n'))).rejects.toMatchObject({
      code: 'too_large',
      hint: expect.stringContaining('--no-ignore'),
    })
  })

  it('an ignore file that is in thousands of directories: its patterns count once', async () => {
    const reader = new IgnoreFileReader(noPacer)
    const text = Array.from({ length: 100 }, (_, at) => `*a*${at}`).join('\n')
    for (let directory = 0; directory < 200; directory++) await reader.read(text)
    expect((await reader.read('*b*c'))?.ask('abc', false)).toBe('ignore')
  })

  it('a pattern whose table would be too large still decides', async () => {
    const wide = `*a${'?'.repeat(14)}b`
    const names = Array.from({ length: 3000 }, (_, at) =>
      at.toString(2).padStart(16, '0').replaceAll('0', 'a').replaceAll('1', 'c'),
    )
    const wanted = names.filter((name) => /a.{14}b$/.test(`${name}b`)).map((name) => `${name}b`)
    expect(await ignored(wide, ...names.map((name) => `${name}b`))).toEqual(wanted)
  })
})

it('more rules on the way to one directory than an entry can be compared with: refused', () => {
  expect(() => requireFewRules(20_000)).not.toThrow()
  expect(() => requireFewRules(20_001)).toThrow('more than 20000 lines')
})
