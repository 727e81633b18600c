import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { commandLine, shellWord } from './shell-words.ts'

const words = [
  'plain',
  '/a/b.ts',
  'k=v',
  'two words',
  "it's",
  '$HOME',
  'a\nb',
  '*',
  '',
  '"',
  '\\',
  'ü',
]

describe('shell words', () => {
  it.each(words)('%j is read by a shell as it was', (word) => {
    const said = execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(word)}`], {
      encoding: 'utf8',
    })
    expect(said).toBe(word)
  })

  it('in a command, a colon belongs to the path behind it', () => {
    expect(commandLine`cairn fs cp FILE :${'/my repo'} --layer ${'fix'}`).toBe(
      "cairn fs cp FILE ':/my repo' --layer fix",
    )
    expect(commandLine`cairn fs ls :${'/repo'}`).toBe('cairn fs ls :/repo')
  })
})
