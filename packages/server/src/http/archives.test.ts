import {
  type AccessOperation,
  type ImportReceipt,
  type TarEntry,
  TarReader,
  tarEnd,
  tarHeader,
  tarPaddingBytes,
} from '@cairn/protocol'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { beforeEach, describe, expect, it } from 'vitest'
import { memoryDoor, secret } from '../../test/memory-door.ts'

const file = { kind: 'file', mode: 0o644, size: 0, mtimeNs: 1_600_000_000_000_000_001n } as const
const root = '/v1/workspaces/w'
let app: FastifyInstance

/** What the tests look at in an answer. */
interface Json extends ImportReceipt {
  readonly error: { readonly code: string; readonly message: string }
  readonly items: readonly { readonly state: string }[]
  readonly mode: string
  readonly mtimeNs: string
  readonly secret: string
}

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

async function ask(
  method: Method,
  url: string,
  payload?: string | object,
  key = secret,
): Promise<{ status: number; raw: Buffer; json: Json }> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await app.inject({
    method,
    url: `${root}${url}`,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })
  const raw = answer.rawPayload
  const isJson = String(answer.headers['content-type']).includes('json')
  return { status: answer.statusCode, raw, json: (isJson ? answer.json() : {}) as Json }
}

function tar(entries: readonly (Partial<TarEntry> & { path: string; content?: string })[]): Buffer {
  const parts = entries.flatMap(({ content = '', ...entry }) => {
    const size = Buffer.byteLength(content)
    const header = tarHeader({ ...file, ...entry, size })
    return [header, Buffer.from(content), new Uint8Array(tarPaddingBytes(size))]
  })
  return Buffer.concat([...parts, tarEnd])
}

async function untar(bytes: Uint8Array): Promise<Record<string, unknown>> {
  const reader = new TarReader(
    (async function* () {
      yield bytes
    })(),
  )
  const all: Record<string, unknown> = {}
  for (let entry = await reader.next(); entry; entry = await reader.next()) {
    const content = Buffer.from(await reader.content(entry.size)).toString()
    all[entry.path] = entry.kind === 'file' ? content : `${entry.kind} ${entry.target ?? ''}`.trim()
  }
  return all
}

const put = (path: string, entries: Parameters<typeof tar>[0], query = '', key = secret) =>
  ask('POST', `/files${path}?import${query}`, tar(entries), key)

const issue = async (
  allow: readonly { path: string; operations: readonly AccessOperation[] }[],
  more = {},
) => {
  const body = { name: `t${Math.random()}`, ttlMs: 60_000, allow, ...more }
  return (await ask('POST', '/tokens', body)).json.secret
}

beforeEach(async () => {
  app = memoryDoor()
  const headers = { authorization: `Bearer ${secret}` }
  await app.inject({ method: 'POST', url: '/v1/workspaces', headers, payload: { name: 'w' } })
})

const tree = [
  { path: './', kind: 'directory', mode: 0o700 },
  { path: 'a.txt', content: 'a', mode: 0o755 },
  { path: 'd/e/big', content: 'x'.repeat(600_000) },
  { path: 'd/e/', kind: 'directory', mode: 0o750 },
  { path: 'd/sym', kind: 'symlink', target: '../a.txt' },
  { path: 'd/hard', kind: 'link', target: 'a.txt' },
  { path: 'n\xff\n', content: '' },
] as const

describe('import', () => {
  it('files, modes, times, symlinks and hard links survive a round trip', async () => {
    const { status, json } = await put('/repo', tree)
    expect(status).toBe(200)
    expect(json).toMatchObject({
      files: 3,
      directories: 2,
      symlinks: 1,
      links: 1,
      bytes: 600_001,
    })
    expect((await ask('GET', '/files/repo/a.txt?stat')).json).toMatchObject({
      mode: '0755',
      nlink: 2,
      mtimeNs: String(file.mtimeNs),
    })
    expect((await ask('GET', '/files/repo/d/e?stat')).json).toMatchObject({
      mode: '0755',
      mtimeNs: String(file.mtimeNs),
    })
    expect(await untar((await ask('GET', '/files/repo?archive=tar')).raw)).toEqual({
      'a.txt': 'a',
      'd/': 'directory',
      'd/e/': 'directory',
      'd/e/big': 'x'.repeat(600_000),
      'd/hard': 'link a.txt',
      'd/sym': 'symlink ../a.txt',
      'n\xff\n': '',
    })
  })

  it('gzip is recognised, and given on request', async () => {
    const body = gzipSync(tar([{ path: 'a', content: 'zipped' }]))
    expect((await ask('POST', '/files/?import', body)).status).toBe(200)
    const { raw } = await ask('GET', '/files/?archive=tgz')
    expect(await untar(gunzipSync(raw))).toEqual({ a: 'zipped' })
  })

  it('files that are there are replaced, others stay, and times=now takes the present', async () => {
    await put('/', [
      { path: 'a', content: 'old and longer', mode: 0o600 },
      { path: 'b', content: 'b' },
    ])
    await put(
      '/',
      [
        { path: 'a', content: 'new', mode: 0o755 },
        { path: 'b', kind: 'symlink', target: 'a' },
      ],
      '&times=now',
    )
    expect(await untar((await ask('GET', '/files/?archive=tar')).raw)).toEqual({
      a: 'new',
      b: 'symlink a',
    })
    const { mode, mtimeNs } = (await ask('GET', '/files/a?stat')).json
    expect(mode).toBe('0755')
    expect(mtimeNs).not.toBe(String(file.mtimeNs))
  })

  it.each([
    ['..', [{ path: '../out', content: 'x' }], 'malformed'],
    ['.. in the middle', [{ path: 'a/../../out', content: 'x' }], 'malformed'],
    [
      'a symlink before it',
      [
        { path: 'l', kind: 'symlink', target: '/secret' },
        { path: 'l/f', content: 'x' },
      ],
      'file_system',
    ],
    ['a hard link to elsewhere', [{ path: 'h', kind: 'link', target: '../secret/f' }], 'malformed'],
    [
      'a hard link through a symlink',
      [
        { path: 'l', kind: 'symlink', target: '/secret' },
        { path: 'h', kind: 'link', target: 'l/f' },
      ],
      'file_system',
    ],
    [
      'a directory in its place',
      [
        { path: 'first', content: '1' },
        { path: 'dir', content: 'x' },
      ],
      'file_system',
    ],
  ] as const)('%s is refused, and nothing is changed', async (_, entries, code) => {
    await put('/secret', [{ path: 'f', content: 'secret' }])
    await put('/repo', [{ path: 'dir', kind: 'directory' }])
    const before = (await ask('GET', '/log')).json
    const { json } = await put('/repo', entries)
    expect(json.error.code).toBe(code)
    expect((await ask('GET', '/log')).json).toEqual(before)
  })

  it('an archive that is cut off changes nothing', async () => {
    const bytes = tar([
      { path: 'a', content: 'x' },
      { path: 'b', content: 'y'.repeat(5000) },
    ])
    const { json } = await ask('POST', '/files/?import', bytes.subarray(0, 3000))
    expect(json.error.message).toContain('ends in the middle')
    expect((await ask('GET', '/files/?list')).json.items).toEqual([])
  })

  it('tells which inodes the entries became, if asked', async () => {
    const { json } = await put('/repo', tree, '&inodes')
    const numbers = json.inodes!.flatMap(({ first, count, ctimeNs }) =>
      Array.from({ length: count }, (_, at) => ({ ino: first + at, ctimeNs })),
    )
    expect(numbers).toHaveLength(tree.length)
    for (const [at, path] of [
      [1, 'a.txt'],
      [2, 'd/e/big'],
      [5, 'd/hard'],
    ] as const)
      expect((await ask('GET', `/files/repo/${path}?stat`)).json).toMatchObject(numbers[at]!)
    expect((await put('/other', tree)).json.inodes).toBeUndefined()
  })

  it('an import larger than one batch is still one step, also in a layer', async () => {
    const many = Array.from({ length: 11_000 }, (_, i) => ({
      path: `d${i % 50}/${'n'.repeat(200)}${i}`,
    }))
    const first = await put(
      '/repo',
      [{ path: 'd1/', kind: 'directory' as const }, ...many],
      '&inodes',
    )
    expect(first.json).toMatchObject({ files: 11_000 })
    const { inodes } = first.json
    expect(inodes!.reduce((sum, { count }) => sum + count, 0)).toBe(11_001)
    const last = inodes!.at(-1)!
    expect((await ask('GET', `/files/repo/${many.at(-1)!.path}?stat`)).json).toMatchObject({
      ino: last.first + last.count - 1,
      ctimeNs: last.ctimeNs,
    })
    const log = (await ask('GET', '/log?limit=10')).json.items
    expect(log).toHaveLength(1)
    expect((await ask('GET', '/files/repo/d1?stat')).json.mtimeNs).toBe(String(file.mtimeNs))
    await ask('POST', '/layers', { name: 'try', path: '/other' })
    expect((await put('/other', many, '&layer=try')).json).toMatchObject({ files: 11_000 })
    expect((await ask('GET', '/files/other?list&layer=try')).json.items).toHaveLength(50)
    const outside = await put('/elsewhere', many, '&layer=try')
    expect(outside.json.error.code).toBe('outside_layer')
    const { items } = (await ask('GET', '/layers')).json
    expect(items.map(({ state }) => state).toSorted()).toEqual(['committed', 'committed', 'open'])
  })
})

describe('with a token', () => {
  it('only paths that it may write are imported, and hidden ones are not archived', async () => {
    await put('/', [
      { path: 'repo/a', content: 'a' },
      { path: 'secret/b', content: 'b' },
    ])
    const key = await issue([{ path: '/repo', operations: ['read', 'list', 'write'] }])
    expect((await put('/repo', [{ path: 'c', content: 'c' }], '', key)).status).toBe(200)
    expect((await put('/secret', [{ path: 'c', content: 'c' }], '', key)).status).toBe(403)
    expect(
      (
        await put(
          '/',
          [
            { path: 'repo/d', content: '' },
            { path: 'new', content: '' },
          ],
          '',
          key,
        )
      ).status,
    ).toBe(403)
    expect(await untar((await ask('GET', '/files/?archive=tar', undefined, key)).raw)).toEqual({
      'repo/': 'directory',
      'repo/a': 'a',
      'repo/c': 'c',
    })
  })

  it('a token without list or read gets no archive', async () => {
    await put('/', [{ path: 'repo/a', content: 'a' }])
    const writer = await issue([{ path: '/repo', operations: ['write'] }])
    expect((await ask('GET', '/files/repo?archive=tar', undefined, writer)).status).toBe(403)
  })

  it('its budget counts content, not headers, while it arrives', async () => {
    const key = await issue([{ path: '/', operations: ['write', 'read', 'list'] }], {
      maxBytes: 100,
    })
    expect((await put('/', [{ path: 'a', content: 'x'.repeat(60) }], '', key)).status).toBe(200)
    const refused = await put('/', [{ path: 'b', content: 'x'.repeat(60) }], '', key)
    expect(refused.json.error.code).toBe('quota_exceeded')
  })

  it('a quota of files refuses the whole archive', async () => {
    await ask('PATCH', '', { maxFiles: 3 })
    const refused = await put(
      '/',
      [1, 2, 3, 4, 5].map((n) => ({ path: `${n}`, content: 'x' })),
    )
    expect(refused.json.error.code).toBe('quota_exceeded')
    expect((await ask('GET', '/files/?list')).json.items).toEqual([])
  })
})

it('an archive of the past has the past', async () => {
  await put('/repo', [{ path: 'a', content: 'then' }])
  await ask('POST', '/layers/main/checkpoints', { label: 'then' })
  await put('/repo', [{ path: 'a', content: 'now' }])
  expect(await untar((await ask('GET', '/files/repo?archive=tar&at=then')).raw)).toEqual({
    a: 'then',
  })
  expect((await ask('POST', '/files/repo?import&at=then', tar([]))).status).toBe(403)
})
