import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Notes } from './notes.ts'

const kept = { result: 'kept', layer: 'rescue/a' } as const
const committed = { result: 'committed', layer: 'rescue/b' } as const

describe('where late writes went', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-notes-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('where late writes went is known to the next process, once, and in order', () => {
    const first = new Notes(directory)
    first.noteRescue(kept)
    const second = new Notes(directory)
    second.noteRescue(kept)
    second.noteRescue(committed)
    expect(new Notes(directory).rescues).toEqual([kept, committed])
  })

  it('where late writes went is known although a line of the file is damaged', () => {
    writeFileSync(join(directory, 'rescues'), '\0\0\0\nkept rescue/a\n')
    expect(new Notes(directory).rescues).toEqual([kept])
  })

  it('where late writes went is forgotten with the mount', () => {
    const notes = new Notes(directory)
    notes.noteRescue(kept)
    notes.remove()
    expect(readdirSync(directory)).toEqual([])
  })

  it('where late writes went is told where there is no room to keep it', () => {
    const notes = new Notes(join(directory, 'nowhere'))
    notes.noteRescue(kept)
    expect(notes.rescues).toEqual([kept])
  })
})
