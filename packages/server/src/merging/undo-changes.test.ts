import type { CommitReceipt, LogEntry, Page, UndoReceipt } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type MemoryServer, memoryServers } from '../testing/memory-servers.ts'

let server: MemoryServer

beforeEach(async () => {
  server = memoryServers().open()
  await server.call('POST', '', { name: 'w' })
})

type Method = Parameters<MemoryServer['call']>[0]

/** A change of a tool call. */
async function change(
  by: string,
  method: Method,
  url: string,
  body?: string | object,
): Promise<unknown> {
  const answer = await server.call(method, `/w${url}`, body, { 'x-cairn-tool-call': by })
  expect(answer.status, answer.body).toBeLessThan(300)
  return answer.json
}

const write = (by: string, path: string, text: string): Promise<unknown> =>
  change(by, 'PUT', `/files${path}`, text)

async function undo(body: object, query = ''): Promise<UndoReceipt> {
  const answer = await server.call('POST', `/w/undo${query}`, body)
  expect(answer.status, answer.body).toBe(200)
  return answer.json as UndoReceipt
}

interface Refused {
  readonly error: { code: string; message: string; conflicts?: { path: string }[] }
}

async function refused(body: object): Promise<Refused['error']> {
  return ((await server.call('POST', '/w/undo', body)).json as Refused).error
}

async function read(path: string, query = ''): Promise<string | number> {
  const { status, body } = await server.call('GET', `/w/files${path}${query}`)
  return status === 200 ? body : status
}

const shown = ({ paths }: UndoReceipt): string[] =>
  paths.map(({ kind, path }) => `${kind} ${path}`).sort()

describe('undo of a tool call', () => {
  it('takes back what it made, changed, moved and deleted, and nothing else, in one batch', async () => {
    for (const name of ['kept', 'edited', 'moved', 'deleted'])
      await write('before', `/${name}`, name)
    await write('c', '/made', 'new')
    await write('c', '/edited', 'by c')
    await write('other', '/kept', 'by another')
    await change('c', 'POST', '/files/moved?move', { to: '/elsewhere' })
    await change('c', 'DELETE', '/files/deleted')
    await write('other', '/late', 'by another')
    const dry = await undo({ toolCall: 'c', dryRun: true })
    expect(await read('/made')).toBe('new')
    const receipt = await undo({ toolCall: 'c' })
    expect(receipt).toMatchObject({ batches: 4, before: dry.before, after: dry.after })
    expect(shown(receipt)).toEqual([
      'added /deleted',
      'deleted /made',
      'modified /edited',
      'renamed /moved',
    ])
    expect(shown(dry)).toEqual(shown(receipt))
    for (const name of ['edited', 'moved', 'deleted']) expect(await read(`/${name}`)).toBe(name)
    expect([await read('/kept'), await read('/late')]).toEqual(['by another', 'by another'])
    const log = await server.call('GET', '/w/log?order=newest&limit=1')
    expect((log.json as Page<LogEntry>).items[0]).toMatchObject({
      seq: receipt.seq,
      operations: [{ op: 'undo c' }],
    })
  })

  it('a path that was changed since is listed, and nothing is done', async () => {
    await write('before', '/a', '0')
    await write('c', '/a', '1')
    await write('c', '/b', '1')
    await write('other', '/a', '2')
    const { code, message, conflicts } = await refused({ toolCall: 'c' })
    expect(code).toBe('layer_conflict')
    expect(message).toContain('cannot undo c')
    expect(conflicts?.map(({ path }) => path)).toEqual(['/a'])
    expect([await read('/a'), await read('/b')]).toEqual(['2', '1'])
    expect(shown(await undo({ toolCall: 'c', path: '/b' }))).toEqual(['deleted /b'])
  })

  it('an undo can be undone by its own tool call, and not twice', async () => {
    await write('c', '/a', '1')
    await change('u', 'POST', '/undo', { toolCall: 'c' })
    expect(await read('/a')).toBe(404)
    expect((await refused({ toolCall: 'c' })).code).toBe('nothing_to_undo')
    await undo({ toolCall: 'u' })
    expect(await read('/a')).toBe('1')
  })

  it('a repeated request with an idempotency key is done once', async () => {
    await write('c', '/a', '1')
    const ask = async (): Promise<unknown> =>
      (await server.call('POST', '/w/undo', { toolCall: 'c' }, { 'idempotency-key': 'k' })).json
    const first = await ask()
    expect(first).toMatchObject({ batches: 1 })
    expect(await ask()).toEqual(first)
  })

  it('an undo on a layer stays in the layer, and the commit does not show it', async () => {
    await write('before', '/d/a', '0')
    await change('before', 'POST', '/layers', { path: '/d', name: 'try' })
    for (const name of ['a', 'b']) await change('c', 'PUT', `/files/d/${name}?layer=try`, 'by c')
    await change('other', 'PUT', '/files/d/kept?layer=try', 'x')
    await undo({ toolCall: 'c' }, '?layer=try')
    const commit = (await change('m', 'POST', '/layers/try/commit', {})) as CommitReceipt
    expect(commit.paths.map(({ path }) => path)).toEqual(['/d/kept'])
    expect(await read('/d/a')).toBe('0')
    // The call of a commit stands for all that it brought.
    expect(shown(await undo({ toolCall: 'm' }))).toEqual(['deleted /d/kept'])
  })

  it('what nothing matches, or is no wish, is refused', async () => {
    expect((await refused({ toolCall: 'unknown' })).code).toBe('nothing_to_undo')
    expect((await refused({})).code).toBe('invalid_argument')
  })
})

it('undo of an actor: since a time, below a path', async () => {
  await write('x', '/in/a', '1')
  await write('x', '/out/a', '1')
  const later = '2999-01-01T00:00:00Z'
  expect((await refused({ actor: 'key_1', since: later })).code).toBe('nothing_to_undo')
  const receipt = await undo({ actor: 'key_1', path: '/in' })
  expect(shown(receipt)).toEqual(['deleted /in', 'deleted /in/a'])
  expect(await read('/out/a')).toBe('1')
})
