import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cairn } from '@cairn/sdk'
import { serve } from '@cairn/server'
import { expect, it } from 'vitest'

it('garbage collection removes the git export of a workspace that was deleted long enough ago', async () => {
  const data = mkdtempSync(join(tmpdir(), 'cairn-git-'))
  const keep = { graceMs: 0, retentionMs: 0 }
  const { url, ownerKey, close } = await serve({ data, listen: '127.0.0.1:0', keep })
  try {
    const cairn = new Cairn({ server: url, apiKey: ownerKey! })
    const { workspaces } = cairn
    const exports: string[] = []
    for (const name of ['gone', 'stays']) {
      const { id } = await workspaces.create(name)
      exports.push(join(data, 'git', `${id}.git`))
    }
    for (const path of exports) mkdirSync(path, { recursive: true })
    await workspaces.delete('gone')
    await cairn.collectGarbage()
    expect(exports.map((path) => existsSync(path))).toEqual([false, true])
  } finally {
    await close()
    rmSync(data, { recursive: true })
  }
})
