// Whatever a client says: the server tells and takes no more than its token allows.
import { decodeSentBatch, type Op } from '@cairn/core'
import {
  decodeBlobAnswer,
  decodeDirectoryAnswer,
  decodeInodeAnswer,
  decodeInodesAnswer,
  decodeSubtreeAnswer,
  type SessionClient,
} from '@cairn/mount'
import { type Ino, isCairnError, isFsError, type IssuedToken, type Name } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  call,
  createDirectory,
  createFile,
  now,
  type RunningServer,
  SharedStores,
  until,
  writeBytes,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const shared = ['/src/a', '/src/deep/b', '/src/secret/k', '/docs/d', '/listed/l', '/hidden/h']
const allow = [
  { path: '/src', operations: ['read', 'list', 'write', 'delete'] },
  { path: '/docs', operations: ['read', 'list'] },
  { path: '/listed', operations: ['list'] },
]

const { openSession, startServer } = useSessions()

describe('a session under a token', () => {
  let stores: SharedStores
  let server: RunningServer
  let session: SessionClient
  let key: string
  let over: unknown
  const inos = new Map<string, Ino>()
  const batches: Uint8Array[] = []
  /** Inode numbers for new files. */
  let [one, two] = [0, 0]
  const ino = (path: string): Ino => inos.get(path)!

  const owner = async (
    method: string,
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ): Promise<string> => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const answer = await call(server, method, path, text, headers)
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.text
  }
  const issue = async (more: object = {}, workspace = 'w'): Promise<string> => {
    const body = { name: 't', ttlMs: 60_000, allow, deny: ['/src/secret'], ...more }
    return (JSON.parse(await owner('POST', `/${workspace}/tokens`, body)) as IssuedToken).secret
  }

  beforeEach(async () => {
    stores = new SharedStores()
    server = await startServer(stores, 10_000)
    for (const name of ['w', 'v']) await owner('POST', '', { name })
    for (const path of shared) await owner('PUT', `/w/files${path}`, `in ${path}`)
    for (const line of (await owner('GET', '/w/files/?list&recursive')).trim().split('\n')) {
      const { path, ino } = JSON.parse(line) as { path: string; ino: number }
      inos.set(path, ino as Ino)
    }
    key = await issue()
    batches.length = 0
    over = undefined
    session = openSession(server, {
      key,
      startsAtHead: true,
      onBatch: (bytes) => batches.push(bytes),
      onOver: (why) => (over = why),
    })
    await until(() => session.standing === 'lease')
    const { first } = decodeInodesAnswer(await session.ask({ type: 'inodes', count: 10 }))
    ;[one, two] = [first, first + 1]
  })

  const submit = (...ops: Op[]): Promise<string> => codeOf(session.submit(ops, now()))
  const ask = (question: Parameters<SessionClient['ask']>[0]): Promise<Uint8Array> =>
    session.ask(question)
  const list = async (path: string): Promise<string[]> => {
    const question = { type: 'directory', ino: ino(path), after: '' as Name, limit: 100 } as const
    return decodeDirectoryAnswer(await ask(question)).entries.map(({ name }) => name)
  }
  const read = (path: string): Promise<string> =>
    codeOf(ask({ type: 'content', ino: ino(path), offset: 0, length: 100 }))

  it('a session under a token is shown what is in scope and the way there, wherever it asks', async () => {
    inos.set('/', 1 as Ino)
    expect(await list('/')).toEqual(['docs', 'listed', 'src'])
    expect(await list('/src')).toEqual(['a', 'deep'])
    for (const path of ['/hidden', '/src/secret']) {
      expect(await codeOf(list(path)), path).toBe('ESTALE')
      expect(await codeOf(ask({ type: 'inode', ino: ino(path) })), path).toBe('ESTALE')
    }
    const subtree = decodeSubtreeAnswer(await ask({ type: 'subtree', ino: 1 as Ino, limit: 1000 }))
    const names = subtree.directories.flatMap(({ entries }) => entries.map(({ name }) => name))
    expect(names.sort()).toEqual(['a', 'b', 'd', 'deep', 'docs', 'l', 'listed', 'src'])
    const root = decodeInodeAnswer(await ask({ type: 'inode', ino: 1 as Ino })).inode
    expect([root.size, root.nlink, root.mtime.sec]).toEqual([3, 5, 0])
  })

  it('reads bytes only where it may read, by any number it may know', async () => {
    expect(await read('/src/a')).toBe('done')
    expect(await read('/docs/d')).toBe('done')
    expect(await read('/listed/l')).toBe('forbidden')
    for (const path of ['/hidden/h', '/src/secret/k']) expect(await read(path), path).toBe('ENOENT')
    const seek = { type: 'seek', ino: ino('/hidden/h'), offset: 0, hole: 0 } as const
    expect(await codeOf(ask(seek))).toBe('ENOENT')
  })

  it('writes only where it may, whatever it claims; a batch with one wrong operation is none', async () => {
    const before = await owner('GET', '/w/files/?list&recursive')
    const link = {
      type: 'link',
      ino: ino('/docs/d'),
      parent: ino('/src'),
      name: 'x' as Name,
      time: now(),
    } as const
    const move = {
      type: 'rename',
      parent: ino('/src'),
      name: 'a' as Name,
      newParent: ino('/docs'),
      newName: 'a' as Name,
      mode: 'replace',
      time: now(),
    } as const
    const copy = {
      type: 'copy',
      from: ino('/hidden/h'),
      fromOffset: 0,
      ino: ino('/src/a'),
      offset: 0,
      length: 3,
      dropPrivileges: false,
      time: now(),
    } as const
    const refused: readonly (readonly [code: string, ...ops: Op[]])[] = [
      ['forbidden', createFile('n', one, ino('/docs'))],
      ['forbidden', createFile('n', one)],
      ['forbidden', createDirectory('hidden', one)],
      ['ENOENT', createFile('n', one, ino('/hidden'))],
      ['ENOENT', writeBytes(ino('/hidden/h'), 'x')],
      ['forbidden', writeBytes(ino('/docs/d'), 'x')],
      ['ENOENT', { type: 'unlink', parent: ino('/hidden'), name: 'h' as Name, time: now() }],
      ['forbidden', { type: 'unlink', parent: ino('/docs'), name: 'd' as Name, time: now() }],
      ['forbidden', move],
      ['ENOENT', { ...move, parent: ino('/hidden'), name: 'h' as Name, newParent: ino('/src') }],
      ['forbidden', { ...move, mode: 'exchange', newName: 'd' as Name }],
      // What is read-only would be writable by its new name.
      ['forbidden', link],
      ['ENOENT', { ...link, ino: ino('/hidden/h') }],
      ['ENOENT', copy],
      // With the directory above it, what is denied would come to a path that is not.
      [
        'forbidden',
        { ...move, parent: 1 as Ino, name: 'src' as Name, newParent: ino('/src/deep') },
      ],
      ['forbidden', createFile('ok', one, ino('/src')), writeBytes(ino('/docs/d'), 'x')],
    ]
    for (const [code, ...ops] of refused)
      expect(await submit(...ops), JSON.stringify(ops[ops.length - 1])).toBe(code)
    expect(await owner('GET', '/w/files/?list&recursive')).toBe(before)
  })

  it('paths are those of the moment: what a batch moves is asked about where it then is', async () => {
    const made = [createDirectory('d', one, ino('/src')), createFile('f', two, one)]
    expect(await submit(...made, writeBytes(two, 'x'))).toBe('done')
    await owner('POST', '/w/files/src/d?move', { to: '/hidden/d' })
    await until(() => session.standing === 'lease')
    expect(await submit(writeBytes(two, 'y'))).toBe('ENOENT')
    await owner('POST', '/w/files/hidden/d?move', { to: '/src/d' })
    await until(() => session.standing === 'lease')
    expect(await submit(writeBytes(two, 'y'))).toBe('done')
  })

  it('a file that lost its last name is readable for sessions that knew it, and for no others', async () => {
    expect(await submit(createFile('f', two, ino('/src')), writeBytes(two, 'x'))).toBe('done')
    const unlink: Op = { type: 'unlink', parent: ino('/src'), name: 'f' as Name, time: now() }
    expect(await submit(unlink)).toBe('done')
    inos.set('gone', two as Ino)
    expect(await read('gone')).toBe('done')
    const stranger = openSession(server, { key, mode: 'read', startsAtHead: true })
    const content = { type: 'content', ino: two as Ino, offset: 0, length: 9 } as const
    expect(await codeOf(stranger.ask(content))).toBe('ENOENT')
  })

  it('holding a hash is no right to what it names', async () => {
    const bytes = new TextEncoder()
      .encode('long enough for a blob '.repeat(10_000))
      .subarray(0, 200_000)
    const holder = openSession(server, { startsAtHead: true })
    const { id, length } = decodeBlobAnswer(await holder.ask({ type: 'blob', bytes }))!
    await holder.close()
    await until(() => session.standing === 'lease')
    const data = { type: 'blob', id, blobLength: length, start: 0, length } as const
    const write: Op = { ...writeBytes(ino('/src/a'), ''), data } as Op
    expect(await submit(write)).toBe('malformed')
    await ask({ type: 'blob', bytes })
    expect(await submit(write)).toBe('done')
  })

  it('hears that something changed, and of what is hidden not even that', async () => {
    const call = { 'x-cairn-tool-call': 'call-7' }
    await owner('PUT', '/w/files/hidden/h', 'again', call)
    await owner('PUT', '/w/files/docs/d', 'again', call)
    await until(
      () =>
        batches.map((bytes) => decodeSentBatch(bytes)).filter(({ body }) => body.type === 'masked')
          .length === 2,
    )
    const heard = batches
      .map((bytes) => decodeSentBatch(bytes))
      .filter(({ body }) => body.type !== 'epoch')
    expect(heard.map(({ body }) => body)).toEqual([
      { type: 'masked', change: 'nothing' },
      { type: 'masked', change: 'writes' },
    ])
    expect(heard[0]).toMatchObject({ actor: '', session: '' })
    expect(Buffer.concat(batches).includes('again')).toBe(false)
    expect(Buffer.concat(batches).includes('call-7')).toBe(false)
  })

  it('a session under a token finds no other workspace, and no layer that it is not bound to', async () => {
    await owner('POST', '/w/layers', { path: '/src', name: 'mine' })
    await owner('POST', '/w/layers', { path: '/src', name: 'other' })
    const bound = await issue({ layer: 'mine' })
    const open = (options: Parameters<typeof openSession>[1]): Promise<string> =>
      codeOf(openSession(server, options).welcomed)
    expect(await open({ key, workspace: 'v' })).toBe('workspace_missing')
    expect(await open({ key: bound, branch: 'mine' })).toBe('done')
    expect(await open({ key: bound, branch: 'main' })).toBe('done')
    expect(await open({ key: bound, branch: 'other' })).toBe('branch_missing')
    expect(await open({ key, path: '/hidden' })).toBe('ENOENT')
    const reader = await issue({ allow: [{ path: '/docs', operations: ['read', 'list'] }] })
    expect(await open({ key: reader })).toBe('forbidden')
    expect(await open({ key: reader, mode: 'read' })).toBe('done')
  })

  it('a session under a token is ended within a second of being revoked, with the reason, and let in no more', async () => {
    const began = performance.now()
    await owner('DELETE', '/w/tokens/t')
    await until(() => over !== undefined)
    expect(performance.now() - began).toBeLessThan(1000)
    expect(isCairnError(over, 'access_ended')).toBe(true)
    const again = openSession(server, { key })
    expect(await codeOf(again.welcomed)).toBe('access_ended')
  })

  it('a token revoked on another server ends within a second as well', async () => {
    const other = await startServer(stores, 10_000)
    const began = performance.now()
    expect((await call(other, 'DELETE', '/w/tokens/t')).status).toBe(200)
    await until(() => over !== undefined)
    expect(performance.now() - began).toBeLessThan(1000)
  })
})

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'done'
  } catch (error) {
    if (isCairnError(error) || isFsError(error)) return error.code
    throw error
  }
}
