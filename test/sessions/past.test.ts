import {
  connectWebSocket,
  decodeContentAnswer,
  decodeDirectoryAnswer,
  type SessionClient,
} from '@cairn/mount'
import {
  type Ino,
  type Name,
  type SessionReply,
  type SessionRequest,
  sessionVersion,
} from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  call,
  createWorkspace,
  Network,
  type RunningServer,
  secret,
  SharedStores,
  until,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const { openSession, startServer } = useSessions()

describe('a session of the past', () => {
  let server: RunningServer
  const revisit = (more: Parameters<typeof openSession>[1]): SessionClient =>
    openSession(server, { mode: 'read', startsAtHead: true, ...more })
  const post = async (path: string, body: object = {}): Promise<void> => {
    const answer = await call(server, 'POST', `/w/layers${path}`, JSON.stringify(body))
    expect(answer.status, answer.text).toBeLessThan(300)
  }
  const put = async (path: string, text: string, layer: string): Promise<void> => {
    const answer = await call(server, 'PUT', `/w/files/${path}?layer=${layer}`, text)
    expect(answer.status, answer.text).toBeLessThan(300)
  }
  /** What it shows in its directory. */
  const filesOf = async (client: SessionClient): Promise<Record<string, string>> => {
    const { root } = await client.welcomed
    const asked = { type: 'directory', ino: root, after: '' as Name, limit: 1000 } as const
    const files: Record<string, string> = {}
    for (const { name, ino } of decodeDirectoryAnswer(await client.ask(asked)).entries)
      files[name] = await textOf(client, ino)
    return files
  }
  const textOf = async (client: SessionClient, ino: Ino): Promise<string> => {
    const answer = await client.ask({ type: 'content', ino, offset: 0, length: 1000 })
    return new TextDecoder().decode(decodeContentAnswer(answer).bytes)
  }

  /** Says it over a connection of its own, and gives what came back until that was over. */
  const say = (
    { at, session = '' }: { readonly at: string; readonly session?: string },
    requests: readonly SessionRequest[],
  ): Promise<readonly SessionReply[]> =>
    new Promise((resolve, reject) => {
      const replies: SessionReply[] = []
      const events = {
        onReply: (reply: SessionReply) => void replies.push(reply),
        onClose: () => resolve(replies),
      }
      connectWebSocket(
        server.url,
        secret,
      )(events).then((wire) => {
        const place = { workspace: 'w', branch: 'fix', path: '' } as const
        wire.send({ type: 'revisit', version: sessionVersion, ...place, at, session })
        for (const request of requests) wire.send(request)
      }, reject)
    })

  beforeEach(async () => {
    server = await startServer(new SharedStores(), 1500)
    await createWorkspace(server)
    await put('dir/a', 'base', 'main')
    await post('', { name: 'fix', path: '/dir' })
    await put('dir/a', 'good', 'fix')
    await put('dir/b', 'new', 'fix')
    await post('/fix/checkpoints', { label: 'tests-pass' })
    await put('dir/a', 'broken', 'fix')
  })

  it('shows the branch as it was, by label, by id, by the label alone, and what it stood on', async () => {
    const listed = await call(server, 'GET', '/w/layers/fix/checkpoints')
    const [{ id }] = (JSON.parse(listed.text) as { items: { id: string }[] }).items as [
      { id: string },
    ]
    const good = { a: 'good', b: 'new' }
    for (const [branch, at, files] of [
      ['fix', 'tests-pass', good],
      ['fix', id, good],
      ['', 'tests-pass', good],
      ['fix', 'base', { a: 'base' }],
    ] as const)
      expect(await filesOf(revisit({ branch, at, path: '/dir' })), at).toEqual(files)
  })

  it('a session of the past is told nothing of what happens since, and takes nothing', async () => {
    const heard: unknown[] = []
    const onBatch = (bytes: Uint8Array): void => void heard.push(bytes)
    const past = revisit({ branch: 'fix', at: 'tests-pass', path: '/dir', onBatch })
    expect(await filesOf(past)).toEqual({ a: 'good', b: 'new' })
    await put('dir/a', 'later', 'fix')
    await post('/fix/rollback', {})
    await post('/fix/commit', {})
    expect(await filesOf(past)).toEqual({ a: 'good', b: 'new' })
    for (const question of [
      { type: 'inodes', count: 1 },
      { type: 'blob', bytes: new Uint8Array(200) },
      { type: 'locks' },
      { type: 'barrier', seq: 1 },
    ] as const)
      await expect(past.ask(question), question.type).rejects.toMatchObject({ code: 'read_only' })
    expect([heard, past.standing]).toEqual([[], 'waiting'])
  })

  it('submissions are refused', async () => {
    const said = await say({ at: 'tests-pass' }, [
      { type: 'submit', number: 7, epoch: 0, body: new Uint8Array() },
      { type: 'renew' },
      { type: 'bye' },
    ])
    expect(said).toMatchObject([
      { type: 'welcome' },
      { type: 'refused', number: 7, code: 'read_only' },
    ])
  })

  it('comes back to the very checkpoint, whatever has its label by then', async () => {
    const network = new Network()
    const past = revisit({ network, branch: 'fix', at: 'tests-pass', path: '/dir' })
    await past.welcomed
    network.cut()
    await post('/fix/checkpoints', { label: 'tests-pass' })
    network.heal()
    await until(() => past.isConnected)
    expect(await filesOf(past)).toEqual({ a: 'good', b: 'new' })
    await expect(revisit({ branch: 'fix', at: 'tests-pass' }).welcomed).rejects.toMatchObject({
      code: 'reference_ambiguous',
    })
  })

  it('a base that a rebase replaced is not shown any more', async () => {
    const [first] = await say({ at: 'base' }, [{ type: 'bye' }])
    const session = first?.type === 'welcome' ? first.session : ''
    await put('dir/c', 'of main', 'main')
    await post('/fix/rebase', {})
    expect(await filesOf(revisit({ branch: 'fix', at: 'base', path: '/dir' }))).toEqual({
      a: 'base',
      c: 'of main',
    })
    const again = await say({ at: 'base', session }, [])
    expect(again).toMatchObject([{ type: 'goodbye', code: 'checkpoint_missing' }])
  })

  it('a checkpoint, branch or path that is not there is told as everywhere', async () => {
    for (const [code, more] of [
      ['checkpoint_missing', { branch: 'fix', at: 'nope' }],
      ['branch_missing', { branch: 'nope', at: 'tests-pass' }],
      ['branch_missing', { branch: '', at: 'nope' }],
      ['ENOENT', { branch: 'fix', at: 'tests-pass', path: '/none' }],
      ['ENOTDIR', { branch: 'fix', at: 'tests-pass', path: '/dir/a' }],
    ] as const)
      await expect(revisit(more).welcomed, code).rejects.toMatchObject({ code })
  })
})
