import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startInside } from './start.ts'

describe('a program whose helper ends before it said a word', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-start-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  /** Where the control socket is, and what becomes of it. */
  function start(script: string): Promise<unknown> {
    const helper = join(directory, 'helper')
    writeFileSync(helper, `#!/bin/sh\n${script}\n`)
    chmodSync(helper, 0o755)
    return startInside({ helper, pid: 1, doors: [] }, { args: ['/bin/true'], env: {} })
  }

  it.each([
    ['at once', 'kill -9 $$'],
    ['with its control socket gone before', 'exec 3>&-; sleep 0.3'],
    ['with its control socket held by another for a moment', 'sleep 0.3 & exit'],
  ])('%s: the start is refused', async (_, script) => {
    await expect(start(script)).rejects.toThrow('cannot start /bin/true: the jail has ended')
  })
})
