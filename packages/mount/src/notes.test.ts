import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Notes } from './notes.ts'

describe('where late writes went', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-notes-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('is known to the next process, once, and in order', () => {
    const first = new Notes(directory)
    first.noteRescue('conflicted rescue/a')
    const second = new Notes(directory)
    second.noteRescue('conflicted rescue/a')
    second.noteRescue('committed rescue/b')
    expect(new Notes(directory).rescues).toEqual(['conflicted rescue/a', 'committed rescue/b'])
  })

  it('is forgotten with the mount', () => {
    const notes = new Notes(directory)
    notes.noteRescue('conflicted rescue/a')
    notes.remove()
    expect(readdirSync(directory)).toEqual([])
  })

  it('is told where there is no room to keep it', () => {
    const notes = new Notes(join(directory, 'nowhere'))
    notes.noteRescue('conflicted rescue/a')
    expect(notes.rescues).toEqual(['conflicted rescue/a'])
  })
})
