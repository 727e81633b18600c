import type { FileEntry } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { gather } from '../../test/gather.ts'
import { failureOf, openCairn } from '../../test/open-cairn.ts'
import { type Answer, bytes, cutAfter, json } from '../../test/stub-server.ts'

function entry(path: string, kind: FileEntry['kind'], nameBytes?: string): Partial<FileEntry> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { path, name, kind, ...(nameBytes === undefined ? {} : { nameBytes }) }
}

function lines(...entries: object[]): Answer {
  return bytes(entries.map((item) => `${JSON.stringify(item)}\n`).join(''))
}

const [ff, fe] = [Buffer.of(0xff).toString('base64'), Buffer.of(0xfe).toString('base64')]

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

  it('a name that is not UTF-8 brings the bytes of its path', async () => {
    const { workspace } = await openCairn([json({ items: [entry('/d/\ufffd', 'file', ff)] })])
    const [listed] = await gather(workspace.files.list('/d'))
    expect(Buffer.from(listed!.pathBytes!)).toEqual(Buffer.from('/d/\xff', 'latin1'))
  })

  it('asks nothing before the first turn, and a bad path fails there', async () => {
    const { workspace, seen } = await openCairn([])
    const entries = workspace.files.list('/../x')
    expect(seen).toHaveLength(0)
    expect((await failureOf(gather(entries))).errno).toBe('EINVAL')
  })
})

describe('walk', () => {
  it('two directories that look the same keep their own children', async () => {
    const { workspace } = await openCairn([
      lines(
        entry('/\ufffd', 'directory', fe),
        entry('/\ufffd/x', 'file'),
        entry('/\ufffd', 'directory', ff),
        entry('/\ufffd/x', 'file'),
        entry('/\ufffd/deep', 'directory'),
        entry('/\ufffd/deep/y', 'file'),
        entry('/plain', 'file'),
      ),
    ])
    const paths = (await gather(workspace.files.walk('/'))).map(({ path, pathBytes }) =>
      pathBytes === undefined ? path : Buffer.from(pathBytes).toString('latin1'),
    )
    expect(paths.map((path) => path.replace(/^\/\//, '/'))).toEqual([
      '/\xfe',
      '/\xfe/x',
      '/\xff',
      '/\xff/x',
      '/\xff/deep',
      '/\xff/deep/y',
      '/plain',
    ])
  })

  it('a cut in the middle is told, not taken for the end', async () => {
    const { workspace } = await openCairn([
      cutAfter(`${JSON.stringify(entry('/a', 'file'))}\n{"pa`),
    ])
    const names: string[] = []
    const walking = (async () => {
      for await (const { name } of workspace.files.walk('/')) names.push(name)
    })()
    expect((await failureOf(walking)).code).toBe('unreachable')
    expect(names).toEqual(['a'])
  })

  it('leaving the loop closes the connection', async () => {
    const closed = Promise.withResolvers<void>()
    const { workspace } = await openCairn([
      (response) => {
        response.on('close', closed.resolve)
        response.writeHead(200).write(`${JSON.stringify(entry('/a', 'file'))}\n`)
      },
    ])
    for await (const { name } of workspace.files.walk('/')) if (name === 'a') break
    await closed.promise
  })
})
