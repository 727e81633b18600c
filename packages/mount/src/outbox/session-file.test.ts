import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readSession, writeSession, writeSessionWhenRoom } from './session-file.ts'

const isRoot = process.getuid?.() === 0

it.skipIf(!isRoot)(
  'on a full disk the note of before stays, and is replaced when there is room (needs root)',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cairn-session-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', directory])
    onTestFinished(() => {
      execFileSync('umount', [directory])
      rmSync(directory, { recursive: true })
    })
    const before = { session: 's', lastNumber: 3, seq: 4 }
    writeSession(directory, before)
    const filler = join(directory, 'filler')
    expect(() => writeFileSync(filler, Buffer.alloc(1 << 20))).toThrow('ENOSPC')
    const found: unknown[] = []
    const sleep = async (): Promise<void> => {
      found.push(readSession(directory))
      if (found.length === 2) rmSync(filler)
    }
    const after = { session: 's', lastNumber: 7, seq: 9 }
    await writeSessionWhenRoom(directory, after, sleep)
    expect(found).toEqual([before, before])
    expect(readSession(directory)).toEqual(after)
  },
)

it('where it cannot be written for another reason, that is told', async () => {
  const nowhere = join(tmpdir(), 'cairn-nowhere')
  const note = { session: 's', lastNumber: 0, seq: 0 }
  await expect(writeSessionWhenRoom(nowhere, note, () => Promise.resolve())).rejects.toThrow(
    'ENOENT',
  )
})
