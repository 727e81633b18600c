// Names that are not UTF-8, and walks that go on, over HTTP and through the SDK.
import type { FileEntry, FileStat, Page } from '@cairn/protocol'
import { exactPathOf, spelled, type Workspace } from '@cairn/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { useServer } from './use-server.ts'

const server = useServer()
let workspace: Workspace

beforeEach(async () => {
  workspace = await server.enter()
})

/** The name of bytes FF FE in a directory. */
function bad(directory = '/'): Uint8Array {
  return Buffer.concat([Buffer.from(directory), Buffer.of(0xff, 0xfe)])
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

async function ask(method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${server.url}/v1/workspaces/${workspace.name}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.apiKey}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function errorOf(answer: Response): Promise<{ code: string; message: string }> {
  return ((await answer.json()) as { error: { code: string; message: string } }).error
}

describe('a name of bytes FF FE in JSON', () => {
  it('move, copy, link and symlink take and give it', async () => {
    const { files } = workspace
    await files.write('/a', 'text')
    expect((await files.copy('/a', bad('/copies/'), { parents: true })).seq).toBeGreaterThan(0)
    await files.link('/a', bad('/links/'), { parents: true })
    await files.symlink(bad('/copies/'), '/to-copy')
    await files.move('/a', bad())
    for (const path of [bad(), bad('/copies/'), bad('/links/'), '/to-copy'])
      expect(await files.readText(path)).toBe('text')
    const link = await files.stat('/to-copy', { follow: false })
    expect(link.target).toBe('/copies/\ufffd\ufffd')
    expect(link.targetBytes).toBe(base64(bad('/copies/')))
    const stat = await files.stat(bad())
    expect([stat.path, stat.pathBytes]).toEqual(['/\ufffd\ufffd', base64(bad())])
    expect(Buffer.from(exactPathOf(stat) as Uint8Array)).toEqual(Buffer.from(bad()))
  })

  it('a batch takes it, all operations of it', async () => {
    const path = spelled('path', bad('/d/'))
    await workspace.batch([
      { op: 'mkdir', path: '/d' },
      { op: 'write', ...path, text: 'one' },
      { op: 'chmod', ...path, mode: '0600' },
      { op: 'copy', ...path, ...spelled('to', bad()) },
      { op: 'symlink', path: '/l', ...spelled('target', bad()) },
      { op: 'remove', ...path },
    ])
    expect(await workspace.files.readText('/l')).toBe('one')
    expect((await workspace.files.stat(bad())).mode).toBe('0600')
    expect(await workspace.files.exists(bad('/d/'))).toBe(false)
  })

  it('a watcher of it gets its events, and not those of its neighbours', async () => {
    await workspace.files.write('/beside', 'x')
    await workspace.files.write(bad('/d/'), 'x')
    const heard: (string | undefined)[] = []
    for await (const { operations } of workspace.files.watch(bad('/d/'), { after: 0 })) {
      heard.push(...operations.map(({ pathBytes }) => pathBytes))
      break
    }
    expect(heard).toContain(base64(bad('/d/')))
    expect(heard).not.toContain('/beside')
  })

  it('an upload in blocks may end there', async () => {
    const content = new Uint8Array(600_000).fill(7)
    await workspace.files.upload(bad('/up/'), content)
    expect(Buffer.from(await workspace.files.read(bad('/up/'))).equals(content)).toBe(true)
  })

  it('what is UTF-8 has no second spelling in answers, whatever its letters', async () => {
    const answer = await ask('PUT', `/files/${encodeURIComponent('ä😀\ufffd')}`)
    const { stat } = (await answer.json()) as { stat: FileStat }
    expect(stat.path).toBe('/ä😀\ufffd')
    expect(stat).not.toHaveProperty('pathBytes')
  })

  it('both spellings, none, bad base64 and half a surrogate pair are refused', async () => {
    await workspace.files.write('/a', '')
    const move = (body: object): Promise<Response> => ask('POST', '/files/a?move', body)
    for (const body of [{ to: '/b', toBytes: 'L2I=' }, {}, { toBytes: 'L2I=!' }, { toBytes: 7 }]) {
      const answer = await move(body)
      expect([body, answer.status]).toEqual([body, 400])
      expect((await errorOf(answer)).code).toBe('invalid_argument')
    }
    const half = await move({ to: '/\ud800' })
    expect(half.status).toBe(400)
    expect(await errorOf(half)).toMatchObject({ code: 'file_system', errno: 'EINVAL' })
    const hostile = await move({ toBytes: base64(Buffer.from('/../b\0')) })
    expect(hostile.status).toBe(400)
    expect(await workspace.files.exists('/a')).toBe(true)
  })
})

describe('a recursive listing in pages', () => {
  const paths = ['/d', '/d/a', '/d/b', '/d/b/x', '/d/b/y', '/d/b.txt', '/d/c', '/e', '/z']

  const makeTree = async (): Promise<void> => {
    for (const path of ['/d/a', '/d/b/x', '/d/b/y', '/d/b.txt', '/d/c', '/z'])
      await workspace.files.write(path, path)
    await workspace.files.mkdir('/e')
  }

  const page = async (query: string, path = '/'): Promise<Page<FileEntry>> => {
    const answer = await ask('GET', `/files${path}?list&recursive&${query}`)
    expect(answer.status).toBe(200)
    return (await answer.json()) as Page<FileEntry>
  }

  it('pages of any size have the same entries as the stream, parents before children', async () => {
    await makeTree()
    const streamed = (await (await ask('GET', '/files/?list&recursive')).text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as FileEntry)
    expect(streamed.map(({ path }) => path)).toEqual(paths)
    for (const limit of [1, 2, 3, 8, 9, 10]) {
      const walked: FileEntry[] = []
      let next: string | undefined = ''
      for (let first = true; next !== undefined; first = false) {
        const got: Page<FileEntry> = await page(`limit=${limit}${first ? '' : `&cursor=${next}`}`)
        expect(got.items.length).toBeLessThanOrEqual(limit)
        walked.push(...got.items)
        ;({ next } = got)
      }
      expect(walked).toEqual(streamed)
    }
  })

  it('changes between two pages neither end nor repeat a walk', async () => {
    await makeTree()
    const first = await page('limit=4')
    expect(first.items.map(({ path }) => path)).toEqual(paths.slice(0, 4))
    await workspace.files.remove('/d/b', { recursive: true })
    await workspace.files.write('/d/aa', 'behind')
    await workspace.files.write('/d/bb/new', 'ahead')
    const rest = await page(`limit=100&cursor=${first.next}`)
    const seen = rest.items.map(({ path }) => path)
    expect(seen).toEqual(['/d/b.txt', '/d/bb', '/d/bb/new', '/d/c', '/e', '/z'])
  })

  it('the SDK goes through pages of any size, also of names that are not UTF-8', async () => {
    await makeTree()
    await workspace.files.write(bad('/d/'), 'x')
    const walked: string[] = []
    for await (const entry of workspace.files.walk('/d', { pageSize: 2 }))
      walked.push(Buffer.from(exactPathOf(entry)).toString('latin1'))
    expect(walked).toEqual([...paths.slice(1, 7), '/d/\xff\xfe'])
  })

  it('a cursor that no listing gave is refused', async () => {
    await makeTree()
    const cursors = ['', '!!', 'Lw', Buffer.from('a/../b').toString('base64url')]
    for (const cursor of [...cursors, Buffer.alloc(300, 'x').toString('base64url')]) {
      const answer = await ask('GET', `/files/?list&recursive&cursor=${cursor}`)
      expect([cursor, answer.status]).toEqual([cursor, 400])
      expect((await errorOf(answer)).code).toBe('invalid_argument')
    }
    const deep = Buffer.from('d/b').toString('base64url')
    expect((await ask('GET', `/files/?list&cursor=${deep}`)).status).toBe(400)
  })
})
