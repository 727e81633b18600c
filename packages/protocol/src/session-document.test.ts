import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { messageBytesMax, sessionTables, sessionVersion } from './session-messages.ts'

const path = join(import.meta.dirname, '../../../docs/internals/protocol.md')
const document = readFileSync(path, 'utf8')

/** Rows of the form: number, name, fields in order, meaning. */
function rowsUnder(title: string): readonly (readonly string[])[] {
  const section = document.split(`### ${title}\n`)[1]?.split(/^##/m)[0] ?? ''
  return [...section.matchAll(/^\| (\d+) \| `(\w+)` \| (.*?) \|/gm)].map((row) => row.slice(1, 4))
}

describe('docs/internals/protocol.md', () => {
  it.each([
    ['From a session to the server', sessionTables.requests],
    ['From the server to a session', sessionTables.replies],
  ])('%s: every message, with its number and its fields in order', (title, table) => {
    const expected = Object.entries(table).map(([name, fields], index) => [
      `${index}`,
      name,
      Object.entries(fields)
        .map(([field, type]) => `\`${field}\` ${type}`)
        .join(', ') || '–',
    ])
    expect(rowsUnder(title)).toEqual(expected)
  })

  it('Reading: the answer to every question', () => {
    const questions = Object.entries(sessionTables.requests)
      .filter(([, fields]) => 'id' in fields)
      .map(([name]) => name)
    const section = document.split('## Reading\n')[1]?.split(/^##/m)[0] ?? ''
    const answered = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    expect(new Set(answered)).toEqual(new Set(questions))
  })

  it('names the version and the size of a message', () => {
    const prose = document.replaceAll(/\s+/g, ' ')
    expect(prose).toContain(`This page is version ${sessionVersion}.`)
    expect(prose).toContain(`${messageBytesMax >> 20} MiB`)
  })
})
