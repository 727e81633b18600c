// The SDK against a real server.
import { randomBytes } from 'node:crypto'
import { type CairnError, isCairnError, exactPathOf, type Workspace } from '@cairn/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { useServer } from './use-server.ts'

const server = useServer()
let workspace: Workspace

beforeEach(async () => {
  workspace = await server.enter()
})

async function gather<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

async function failureOf(promise: Promise<unknown>): Promise<CairnError> {
  const outcome = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (isCairnError(outcome)) return outcome
  throw new Error(`wanted a CairnError, got ${String(outcome)}`, { cause: outcome })
}

const block = 256 * 1024

describe('workspaces', () => {
  it('made, found by name and id, listed, removed', async () => {
    const { workspaces } = server.cairn
    const made = await workspaces.create('site')
    const now = { ...made, used: { bytes: 0, files: 0 } }
    expect(await workspaces.get('site')).toEqual(now)
    expect(await workspaces.get(made.id)).toEqual(now)
    expect((await failureOf(workspaces.create('site'))).code).toBe('workspace_exists')
    expect((await gather(workspaces.list({ pageSize: 1 }))).map(({ name }) => name)).toContain(
      'site',
    )
    expect(await workspaces.delete('site')).toMatchObject({ id: made.id, forks: [] })
    expect((await gather(workspaces.listDeleted())).map(({ id }) => id)).toContain(made.id)
    expect(await workspaces.restore('site', { as: 'again' })).toEqual({ ...now, name: 'again' })
    expect(await workspaces.rename('again', 'site')).toEqual(now)
    await workspaces.delete('site')
    expect((await failureOf(workspaces.get('site'))).code).toBe('workspace_missing')
    expect((await failureOf(server.cairn.workspace('site').files.read('/a'))).code).toBe(
      'workspace_missing',
    )
  })
})

describe('bytes', () => {
  it.each([0, 1, block - 1, block, block + 1, 3 * block + 17])(
    '%i bytes come back',
    async (size) => {
      const bytes = new Uint8Array(randomBytes(size))
      const { stat } = await workspace.files.write('/deep/down/file', bytes, { mode: 0o600 })
      expect(stat).toMatchObject({ path: '/deep/down/file', size, mode: '0600', kind: 'file' })
      expect(Buffer.from(await workspace.files.read('/deep/down/file')).equals(bytes)).toBe(true)
    },
  )

  it('text, a Blob and a stream', async () => {
    const text = 'grün 😀\n\ufeff'
    const sources = [text, new Blob([text]), ReadableStream.from([Buffer.from(text)])]
    for (const source of sources) {
      await workspace.files.write('/t', source)
      expect(await workspace.files.readText('/t')).toBe(text)
    }
  })

  it('ranges, also past the end', async () => {
    await workspace.files.write('/a', '0123456789')
    const read = (offset: number, length?: number): Promise<string> =>
      workspace.files.readText('/a', { offset, length })
    expect(await read(3)).toBe('3456789')
    expect(await read(3, 4)).toBe('3456')
    expect(await read(8, 10)).toBe('89')
    expect(await read(9, 1)).toBe('9')
    expect(await read(10)).toBe('')
    expect(await read(100, 5)).toBe('')
    expect(await read(2, 0)).toBe('')
    await workspace.files.write('/empty', '')
    expect(await workspace.files.readText('/empty', { offset: 0, length: 5 })).toBe('')
  })

  it('append adds to the end, and patch writes into the middle', async () => {
    await workspace.files.append('/log', 'one\n')
    await workspace.files.append('/log', 'two\n')
    await workspace.files.patch('/log', 4, Buffer.from('TWO'))
    await workspace.files.patch('/log', 10, Buffer.from('!'))
    expect(await workspace.files.readText('/log')).toBe('one\nTWO\n\0\0!')
  })

  it('a stream of several requests is read as one', async () => {
    const bytes = randomBytes(5 * block)
    await workspace.files.write('/a', bytes)
    const parts = await gather(await workspace.files.readStream('/a', { offset: 7 }))
    expect(Buffer.concat(parts).equals(bytes.subarray(7))).toBe(true)
  })
})

describe('conditions', () => {
  it('only what was read is replaced', async () => {
    await workspace.files.write('/a', 'first', { ifAbsent: true })
    expect((await failureOf(workspace.files.write('/a', 'x', { ifAbsent: true }))).code).toBe(
      'precondition_failed',
    )
    const { etag } = await workspace.files.stat('/a')
    await workspace.files.write('/a', 'second', { ifMatch: etag })
    const late = await failureOf(workspace.files.write('/a', 'third', { ifMatch: etag }))
    expect(late).toMatchObject({ code: 'precondition_failed', retry: 'after-refresh', status: 412 })
    expect(await workspace.files.readText('/a')).toBe('second')
    expect((await failureOf(workspace.files.read('/a', { ifMatch: etag }))).code).toBe(
      'file_changed',
    )
  })

  it('a missing parent is an error only when asked for', async () => {
    const failure = await failureOf(workspace.files.write('/no/a', 'x', { parents: false }))
    expect(failure.errno).toBe('ENOENT')
  })
})

describe('names', () => {
  it('2,500 entries come page by page, in byte order, each once', async () => {
    const names = Array.from({ length: 2500 }, (_, index) => `file-${index}`)
    for (let at = 0; at < names.length; at += 1000)
      await workspace.batch(
        names.slice(at, at + 1000).map((name) => ({
          op: 'write',
          path: `/many/${name}`,
          text: name,
          parents: true,
        })),
      )
    const listed = (await gather(workspace.files.list('/many'))).map(({ name }) => name)
    expect(listed).toEqual(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
    const small = await gather(workspace.files.list('/many', { pageSize: 999 }))
    expect(small).toHaveLength(2500)
    expect(await gather(workspace.files.walk('/many'))).toHaveLength(2500)
  })

  it.each([
    'a b',
    'ä😀',
    'a%2Fb',
    '?x=1&y#z',
    '*',
    '\\',
    '"',
    'a\nb',
    '…',
    'n'.repeat(255),
    '.x',
    '+',
  ])('the name %j', async (name) => {
    await workspace.files.write(`/${name}`, name)
    expect(await workspace.files.readText(`/${name}`)).toBe(name)
    expect((await gather(workspace.files.list('/'))).map((entry) => entry.name)).toEqual([name])
    await workspace.files.move(`/${name}`, `/moved/${name}`, { parents: true })
    await workspace.files.remove(`/moved/${name}`)
    expect(await workspace.files.exists(`/moved/${name}`)).toBe(false)
  })

  it('names that are not UTF-8 are opened by their bytes, also below one', async () => {
    const directory = Buffer.from('/d\xff', 'latin1')
    await workspace.files.mkdir(directory)
    await workspace.files.write(Buffer.concat([directory, Buffer.from('/x')]), 'inside')
    await workspace.files.write(Buffer.from('/d\xfe', 'latin1'), 'beside')
    const texts: string[] = []
    for await (const entry of workspace.files.walk('/'))
      if (entry.kind === 'file') texts.push(await workspace.files.readText(exactPathOf(entry)))
    expect(texts).toEqual(['beside', 'inside'])
  })

  it('a directory is copied to somewhere below itself, once', async () => {
    const { files } = workspace
    await files.write('/deep/a/b/f', 'text')
    await files.copy('/deep', '/deep/a/copy')
    const paths = (await gather(files.walk('/deep/a/copy'))).map(({ path }) => path)
    expect(paths).toEqual(['/deep/a/copy/a', '/deep/a/copy/a/b', '/deep/a/copy/a/b/f'])
  })

  it('mkdir, move, copy, chmod, symlink, link, touch, remove', async () => {
    const { files } = workspace
    await files.mkdir('/d/e', { parents: true, mode: 0o750 })
    expect((await failureOf(files.mkdir('/d/e'))).errno).toBe('EEXIST')
    await files.write('/d/e/f', 'x')
    const below = files.mkdir('/d/e/f/g/h', { parents: true })
    expect((await failureOf(below)).errno).toBe('ENOTDIR')
    await files.copy('/d', '/copied')
    expect(await files.readText('/copied/e/f')).toBe('x')
    await files.move('/d/e/f', '/g')
    expect((await failureOf(files.move('/g', '/copied/e/f', { noReplace: true }))).errno).toBe(
      'EEXIST',
    )
    await files.chmod('/g', 0o400)
    await files.symlink('g', '/to-g')
    await files.link('/g', '/also-g')
    await files.touch('/g', { mtime: new Date('2001-09-09T01:46:40Z') })
    expect(await files.stat('/to-g')).toMatchObject({
      path: '/g',
      mode: '0400',
      nlink: 2,
      mtimeNs: '1000000000000000000',
    })
    expect(await files.stat('/to-g', { follow: false })).toMatchObject({
      kind: 'symlink',
      target: 'g',
    })
    expect((await failureOf(files.remove('/copied'))).errno).toBe('ENOTEMPTY')
    await files.remove('/copied', { recursive: true })
    const paths = (await gather(files.walk('/'))).map(({ path }) => path)
    expect(paths).toEqual(['/also-g', '/d', '/d/e', '/g', '/to-g'])
  })

  it('glob finds what is there', async () => {
    for (const path of ['/src/a.ts', '/src/deep/b.ts', '/src/deep/c.md', '/.hidden/d.ts'])
      await workspace.files.write(path, '')
    const find = async (pattern: string): Promise<string[]> =>
      (await gather(workspace.files.glob(pattern))).map(({ path }) => path)
    expect(await find('**/*.ts')).toEqual(['/src/a.ts', '/src/deep/b.ts'])
    expect(await find('/src/*/*.{md,ts}')).toEqual(['/src/deep/c.md', '/src/deep/b.ts'])
    expect(await find('/src/a.ts')).toEqual(['/src/a.ts'])
    expect(await find('/nothing/*')).toEqual([])
  })
})

describe('together', () => {
  it('a batch happens whole or not at all', async () => {
    const failure = await failureOf(
      workspace.batch([
        { op: 'mkdir', path: '/a' },
        { op: 'write', path: '/a/b', base64: Buffer.from([0, 255]).toString('base64') },
        { op: 'remove', path: '/nowhere' },
      ]),
    )
    expect(failure).toMatchObject({ errno: 'ENOENT', subject: 'operations[2]' })
    expect(await workspace.files.exists('/a')).toBe(false)
  })

  it('log and history tell who did what', async () => {
    await workspace.files.write('/a', '1')
    await workspace.files.write('/b', '1')
    await workspace.files.write('/a', '2')
    const all = await gather(workspace.log())
    expect(all.map(({ seq }) => seq)).toEqual([...all.keys()].map((index) => index + 1))
    const [first] = all
    expect(await gather(workspace.log({ after: first!.seq, pageSize: 1 }))).toEqual(all.slice(1))
    expect(await gather(workspace.log({ path: '/b' }))).toHaveLength(1)
    expect(await gather(workspace.log({ actor: 'unknown' }))).toEqual([])
    const history = await gather(workspace.files.history('/a', { pageSize: 1 }))
    expect(history.map(({ seq }) => seq)).toEqual([3, 1])
  })

  it('watch gives what was missed and what happens, of its path only', async () => {
    const { seq: before } = await workspace.files.write('/in/a', '1')
    await workspace.files.write('/in/b', '1')
    const seen: string[] = []
    for await (const { seq, operations } of workspace.files.watch('/in', { after: before })) {
      seen.push(...new Set(operations.map(({ path }) => `${seq} ${path}`)))
      if (seq === 2) {
        await workspace.files.write('/out', '1')
        await workspace.files.write('/in/c', '1')
      }
      if (seq === 4) break
    }
    expect(seen).toEqual(['2 /in/b', '4 /in/c'])
  })
})

describe('upload', () => {
  it('a failed one goes on where it was', async () => {
    const bytes = randomBytes(40 * block + 5)
    const ending = new AbortController()
    let resumeId: string | undefined
    const first = workspace.files.upload('/big', new Blob([bytes]), {
      signal: ending.signal,
      onProgress: ({ uploadId, sentBytes }) => {
        resumeId = uploadId
        if (sentBytes > 5 * block) ending.abort(new Error('the line broke'))
      },
    })
    await expect(first).rejects.toThrow('the line broke')
    expect(await workspace.files.exists('/big')).toBe(false)
    let sent = 0
    const counting: typeof fetch = (input, init) => {
      if (init?.method === 'PUT') sent++
      return fetch(input, init)
    }
    const { Cairn } = await import('@cairn/sdk')
    const { url, apiKey } = server
    const again = new Cairn({ server: url, apiKey, fetch: counting }).workspace(workspace.name)
    await again.files.upload('/big', new Blob([bytes]), { resumeId, mode: 0o640 })
    expect(sent).toBeLessThanOrEqual(36)
    expect(Buffer.from(await workspace.files.read('/big')).equals(bytes)).toBe(true)
    expect(await workspace.files.stat('/big')).toMatchObject({ size: bytes.length, mode: '0640' })
  })

  it('a large stream is written, with its parents and its conditions', async () => {
    const bytes = randomBytes((8 << 20) + 3)
    const pieces = [bytes.subarray(0, 7), bytes.subarray(7, 1 << 20), bytes.subarray(1 << 20)]
    await workspace.files.write('/new/big', ReadableStream.from(pieces), { ifAbsent: true })
    expect(Buffer.from(await workspace.files.read('/new/big')).equals(bytes)).toBe(true)
    const again = workspace.files.write('/new/big', ReadableStream.from(pieces), { ifAbsent: true })
    expect((await failureOf(again)).code).toBe('precondition_failed')
  })

  it('one that is not known is not_found', async () => {
    const failure = await failureOf(workspace.files.upload('/a', 'x', { resumeId: 'up_none' }))
    expect(failure.code).toBe('not_found')
  })
})

describe('keys', () => {
  it('a wrong one is unauthenticated, and says what to do', async () => {
    const { Cairn } = await import('@cairn/sdk')
    const stranger = new Cairn({ server: server.url, apiKey: 'wrong' })
    const failure = await failureOf(stranger.workspaces.create('x'))
    expect(failure).toMatchObject({ code: 'unauthenticated', status: 401 })
    expect(failure.hint).toContain('cairn ctx add')
    expect(failure.requestId).toMatch(/./)
  })
})
