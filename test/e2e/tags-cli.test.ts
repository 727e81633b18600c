import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileStat, Workspace } from '@cairn/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

describe('cairn fs tag', () => {
  const cairn = useCairn()
  const server = useServer(cairn)
  let workspace: Workspace

  beforeAll(async () => {
    workspace = await server.enter('tags')
    await workspace.files.write('/repo/a.txt', 'text')
  })

  const tagsOf = async (path: string): Promise<FileStat['tags']> =>
    (await workspace.files.stat(path)).tags

  it('sets, lists and takes away', async () => {
    const set = await cairn.text('fs', 'tag', ':/repo/a.txt', 'reviewed=yes', 'by=agent 17')
    expect(set).toBe('tags of :/repo/a.txt: by=agent 17 reviewed=yes\n')
    expect(await cairn.text('fs', 'tag', ':/repo/a.txt')).toBe('by=agent 17\nreviewed=yes\n')
    expect(await cairn.text('fs', 'tag', ':/repo/a.txt', '--remove', 'by')).toContain(
      'reviewed=yes',
    )
    expect(await cairn.json('fs', 'tag', ':/repo/a.txt')).toEqual([
      { path: '/repo/a.txt', tags: { reviewed: 'yes' } },
    ])
    expect(await cairn.text('fs', 'stat', ':/repo/a.txt')).toContain('tags:      reviewed=yes')
  })

  it('refuses what is no tag, with what to type', async () => {
    expect(await cairn.error('fs', 'tag', ':/repo/a.txt', 'reviewed')).toMatchObject({
      code: 'usage',
    })
    expect(await cairn.error('fs', 'tag', ':/absent', 'k=v')).toMatchObject({ errno: 'ENOENT' })
  })

  it('cp --tag tags each file that it copies, from the disk, a pipe and the workspace', async () => {
    const tree = join(cairn.home(), 'tree')
    mkdirSync(join(tree, 'below'), { recursive: true })
    writeFileSync(join(tree, 'one'), '1')
    writeFileSync(join(tree, 'below', 'two'), '2')
    await cairn.text('fs', 'cp', '-r', '--tag', 'agent=a', tree, ':/copied')
    expect([await tagsOf('/copied/one'), await tagsOf('/copied/below/two')]).toEqual([
      { agent: 'a' },
      { agent: 'a' },
    ])
    await cairn.text('fs', 'cp', '-r', '--tag', 'agent=b', ':/copied', ':/again')
    expect(await tagsOf('/again/below/two')).toEqual({ agent: 'b' })
    await cairn.text('fs', 'cp', '-r', '--tag', 'round=2', ':/copied', ':/again')
    expect(await tagsOf('/again/below/two')).toEqual({ round: '2' })
    await cairn.run(['fs', 'cp', '--tag', 'from=pipe', '-', ':/piped'], { stdin: 'text' })
    expect(await tagsOf('/piped')).toEqual({ from: 'pipe' })
    expect(await cairn.error('fs', 'cp', '--tag', 'k=v', ':/piped', './here')).toMatchObject({
      code: 'usage',
    })
  })

  it('an upload in blocks sets them with the content', async () => {
    await workspace.files.upload('/large', Buffer.alloc(300_000, 1), { tags: { size: 'large' } })
    expect(await tagsOf('/large')).toEqual({ size: 'large' })
  })
})
