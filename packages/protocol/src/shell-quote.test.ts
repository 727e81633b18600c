import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { shellQuote } from './shell-quote.ts'

const hostile = [
  '',
  "'",
  "it's",
  "'; touch /tmp/cairn-never; '",
  "'\\''",
  "\\'",
  '\\',
  '$(id)',
  '`id`',
  '$HOME',
  '!!',
  'two\nlines\n',
  '\ttab',
  '*',
  '~',
  '"double"',
  '-n',
  '#comment',
  'ünïcödé 🗿',
  '\u2028\r',
]

describe('a word quoted for a shell', () => {
  it.each(['sh', 'bash'])('%s evaluates it to the same word', (shell) => {
    // The marker keeps line feeds at the end, which $(...) and echo would lose.
    const script = hostile.map((word) => `x=${shellQuote(word)}; printf '%s\\0' "$x"`).join('\n')
    const said = execFileSync(shell, ['-c', script]).toString().split('\0')
    expect(said.slice(0, -1)).toEqual(hostile)
  })
})
