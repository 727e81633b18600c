import type { FileEntry } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { gather } from '../../test/gather.ts'
import { failureOf, openCairn } from '../../test/open-cairn.ts'
import { cutAfter, json } from '../../test/stub-server.ts'
import { exactPathOf } from '../client/path.ts'

function entry(path: string, kind: FileEntry['kind']): Pick<FileEntry, 'path' | 'name' | 'kind'> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { path, name, kind }
}

describe('list', () => {
  it('asks for the next page with the cursor of the last', async () => {
    const { workspace, seen } = await openCairn([
      json({ items: [entry('/a', 'file')], next: 'c/1' }),
      json({ items: [], next: 'c2' }),
      json({ items: [entry('/b', 'file')] }),
    ])
    const entries = await gather(workspace.files.list('/'))
    const names = entries.map(({ name }) => name)
    expect(names).toEqual(['a', 'b'])
    expect(seen.map(({ url }) => url.split('?')[1])).toEqual([
      'list=true&limit=1000',
      'list=true&limit=1000&cursor=c%2F1',
      'list=true&limit=1000&cursor=c2',
    ])
  })

  it('leaving the loop asks for no more pages', async () => {
    const { workspace, seen } = await openCairn(json({ items: [entry('/a', 'file')], next: 'c' }))
    for await (const { name } of workspace.files.list('/')) if (name === 'a') break
    expect(seen).toHaveLength(1)
  })

  it('what is not UTF-8 is opened by the bytes that come with it', async () => {
    const pathBytes = Buffer.from('/d/\xff', 'latin1').toString('base64')
    const { workspace } = await openCairn([
      json({ items: [{ ...entry('/d/\ufffd', 'file'), pathBytes }, entry('/d/x', 'file')] }),
    ])
    const paths = (await gather(workspace.files.list('/d'))).map(exactPathOf)
    expect(paths).toEqual([Uint8Array.of(47, 100, 47, 255), '/d/x'])
  })

  it('asks nothing before the first turn, and a bad path fails there', async () => {
    const { workspace, seen } = await openCairn([])
    const entries = workspace.files.list('/../x')
    expect(seen).toHaveLength(0)
    expect((await failureOf(gather(entries))).errno).toBe('EINVAL')
  })
})

describe('walk', () => {
  it('goes on with the cursor, and asks again for a page that was cut', async () => {
    const { workspace, seen } = await openCairn([
      json({ items: [entry('/d', 'directory')], next: 'c' }),
      cutAfter('{"items": ['),
      json({ items: [entry('/d/a', 'file')] }),
    ])
    const paths = (await gather(workspace.files.walk('/', { pageSize: 1 }))).map(({ path }) => path)
    expect(paths).toEqual(['/d', '/d/a'])
    expect(seen.map(({ url }) => url.split('?')[1])).toEqual([
      'list=true&recursive=true&limit=1',
      'list=true&recursive=true&limit=1&cursor=c',
      'list=true&recursive=true&limit=1&cursor=c',
    ])
  })
})
