import type { ActorId } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { makeDirectory } from '../files/changes.ts'
import { blame } from '../history/blame.ts'
import { readPathLog } from '../history/path-log.ts'
import { scanLog } from '../history/scan-log.ts'
import { memoryServers } from '../testing/memory-servers.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'

const options = { mode: 0o755, parents: false }

async function openWorkspace(): Promise<OpenWorkspace> {
  const { workspaces } = memoryServers().open()
  await workspaces.create('o', 'w')
  return workspaces.open('o', 'w')
}

describe('when the client has gone', () => {
  it('a change is given up while it is decided, and leaves nothing', async () => {
    const workspace = await openWorkspace()
    const branch = await workspace.branch('main')
    const client = new AbortController()
    const asker = { actor: 'key_1' as ActorId, idempotencyKey: undefined, gone: client.signal }
    const made: string[] = []
    const change = workspace.paths.change(branch, asker, function* (edit) {
      for (const path of ['/a', '/b', '/c']) {
        makeDirectory(edit, path, options)
        made.push(path)
        if (path === '/b') client.abort()
        yield
      }
    })
    await expect(change).rejects.toMatchObject({ code: 'too_slow' })
    expect({ made, seq: branch.head.position.seq }).toEqual({ made: ['/a', '/b'], seq: 0 })
  })

  it('what reads the log ends', async () => {
    const workspace = await openWorkspace()
    const branch = await workspace.branch('main')
    const asker = { actor: 'key_1' as ActorId, idempotencyKey: undefined }
    await workspace.paths.change(branch, asker, (edit) => makeDirectory(edit, '/a', options))
    const gone = AbortSignal.abort()
    const range = { order: 'oldest', after: 0, before: Infinity, limit: 10 } as const
    const entries = readPathLog(workspace, { branch }, '/a', () => true, gone)
    for (const walk of [
      scanLog(workspace, { branch }, range, { gone }),
      entries.next(),
      blame(workspace, { branch }, '/a', gone),
    ])
      await expect(walk).rejects.toMatchObject({ code: 'too_slow' })
  })
})
