import { globSync, readFileSync } from 'node:fs'
import { errnoHints, errorTable } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { aliases, commands, nouns } from '../commands.ts'

const packages = new URL('../../../', import.meta.url).pathname
const sources = ['protocol', 'core', 'server', 'sdk', 'mount', 'sandbox', 'cli', 'agents']
  .flatMap((name) => globSync(`${packages}${name}/src/**/*.ts`))
  .filter((path) => !path.endsWith('.test.ts'))

/** The commands that a text tells the reader to run: `… with: cairn ws ls`. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/: cairn ([a-z]+(?:[ -][a-z]+)*)/g)].map(([, words]) => words!)
}

function isCommand(words: string): boolean {
  const parts = words.split(' ')
  return parts.some((_, index) => {
    const name = parts.slice(0, index + 1).join(' ')
    return [commands, aliases].some((table) => Object.hasOwn(table, name))
  })
}

describe('a command that a hint names', () => {
  const hints = [...Object.values(errorTable).map(({ hint }) => hint), ...Object.values(errnoHints)]

  it('exists, in the error table', () => {
    const named = hints.flatMap(commandsIn)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((words) => !isCommand(words))).toEqual([])
  })

  it('exists, everywhere else in the sources', () => {
    const named = sources.flatMap((path) => commandsIn(readFileSync(path, 'utf8')))
    expect(named.length).toBeGreaterThan(60)
    expect(named.filter((words) => !isCommand(words) && !Object.hasOwn(nouns, words))).toEqual([])
  })

  it('a command that a hint names is looked for: one that there is not is found', () => {
    expect(commandsIn('See: cairn ws list-all. Or run: cairn fs ls -l.')).toEqual([
      'ws list-all',
      'fs ls',
    ])
    expect([isCommand('ws list-all'), isCommand('fs ls'), isCommand('fs ls then')]).toEqual([
      false,
      true,
      true,
    ])
  })
})
