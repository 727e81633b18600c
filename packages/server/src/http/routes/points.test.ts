import type { Blame, CheckpointInfo, FileEntry, LogEntry, Page } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { LayerFixture, ok, refused } from '../../../test/layer-fixture.ts'
import type { Answer } from '../../testing/memory-servers.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

let fixture: LayerFixture
let checkpoint: CheckpointInfo

/** `/repo/a.txt` has another content in main, at the checkpoint `then` of the layer `try`, and in that layer now. */
beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
  await fixture.create({ name: 'try' })
  await fixture.write('/repo/a.txt', 'one\nthen\n', 'try')
  checkpoint = await ok(fixture.post<CheckpointInfo>('/try/checkpoints', { label: 'then' }))
  await fixture.write('/repo/a.txt', 'one\nthen\nnow\n', 'try')
  await fixture.write('/repo/a.txt', 'main\n')
})

const ask = <T>(method: Method, url: string, payload?: string | object): Promise<Answer<T>> => {
  const range = { 'content-range': 'bytes 0-0/*' }
  return fixture.server.call<T>(method, `/w${url}`, payload, method === 'PATCH' ? range : {})
}

const points = {
  layer: 'layer=try',
  at: 'layer=try&at=then',
  side: 'layer=try&side=target',
} as const

/** Every route that can be asked about a point, as one that reads or one that writes. */
/** Those that read the log. */
const logReaders = ['/log?', '/blame?path=/repo/a.txt&']
const readers = [
  '/files/repo/a.txt?',
  '/grep?pattern=x&',
  '/find?',
  '/search?text=x&',
  ...logReaders,
]
const writers: [method: Method, url: string, payload?: string | object][] = [
  ['PUT', '/files/repo/a.txt?', 'x'],
  ['PATCH', '/files/repo/a.txt?', 'x'],
  ['POST', '/files/repo/a.txt?chmod&', { mode: '0600' }],
  ['DELETE', '/files/repo/a.txt?'],
  ['POST', '/batch?', { operations: [{ op: 'write', path: '/repo/a.txt', text: 'x' }] }],
  ['POST', '/uploads?'],
]

describe('every route that takes a point', () => {
  it('every route that takes a point is asked here', async () => {
    const { paths } = await fixture.server.openApi()
    const root = '/v1/workspaces/{workspace}/'
    const routes = Object.entries(paths).flatMap(([url, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'head')
        .filter(([, { parameters }]) => parameters.some(({ name }) => name === 'at'))
        .map(([method]) => `${method.toUpperCase()} ${url.slice(root.length).split('/')[0]}`),
    )
    const asked = [
      ...readers.map((url) => `GET ${url.split(/[/?]/)[1]}`),
      ...writers.map(([method, url]) => `${method} ${url.split(/[/?]/)[1]}`),
      'GET events',
      'POST fork',
      'POST undo',
      // What a block belongs to is asked when the upload is begun, and when it is completed.
      ...['PUT', 'GET', 'DELETE'].map((method) => `${method} uploads`),
    ]
    expect([...new Set(routes)].sort()).toEqual(asked.sort())
  })

  it('POST /undo takes nothing back in the past', async () => {
    for (const point of [points.at, points.side, 'at=then', 'layer=then'])
      expect(
        await refused(ask('POST', `/undo?${point}`, { toolCall: 'call-1' })),
        point,
      ).toMatchObject({
        code: 'read_only',
      })
  })

  it.each(writers)('%s %s writes to a layer, and to no past', async (method, url, payload) => {
    for (const point of [points.at, points.side, 'at=then', 'layer=then'])
      expect(await refused(ask(method, url + point, payload)), point).toMatchObject({
        code: 'read_only',
        message: expect.stringMatching(
          /^cannot write to a checkpoint or a side[^]*Write to the branch/,
        ) as string,
      })
    expect((await ask(method, url + points.layer, payload)).status).toBeLessThan(300)
  })

  it('an upload is not completed there either', async () => {
    const { id } = await ok(ask<{ id: string }>('POST', '/uploads?layer=try'))
    const complete = (point: string): Promise<Answer<unknown>> =>
      ask('POST', `/uploads/${id}/complete?${point}`, { path: '/repo/new', size: 0 })
    for (const point of [points.at, points.side])
      expect((await refused(complete(point))).code).toBe('read_only')
    await ok(complete(points.layer))
  })

  it('a fork starts from it', async () => {
    const texts: string[] = []
    for (const [name, point] of Object.entries(points)) {
      await ok(ask('POST', `/fork?${point}`, { name }))
      texts.push((await fixture.server.call('GET', `/${name}/files/repo/a.txt`)).body)
    }
    expect(texts).toEqual(['one\nthen\nnow\n', 'one\nthen\n', 'main\n'])
  })

  it('content, stat and listings are those of the point', async () => {
    const sizes: unknown[] = []
    for (const point of Object.values(points)) {
      const text = await fixture.read('/repo/a.txt', point)
      const stat = await ok(ask<FileEntry>('GET', `/files/repo/a.txt?stat&${point}`))
      const list = await ok(ask<Page<FileEntry>>('GET', `/files/repo?list&limit=1&${point}`))
      const walk = await ask('GET', `/files/repo?list&recursive&${point}`)
      const walked = JSON.parse(walk.body.split('\n')[0]!) as FileEntry
      sizes.push([text, stat.size, list.items[0]?.size, walked.size])
    }
    expect(sizes).toEqual([
      ['one\nthen\nnow\n', 13, 13, 13],
      ['one\nthen\n', 9, 9, 9],
      ['main\n', 5, 5, 5],
    ])
  })
})

describe('the log at a checkpoint', () => {
  const logOf = async (query: string): Promise<readonly LogEntry[]> =>
    (await ok(ask<Page<LogEntry>>('GET', query))).items
  const seqs = (entries: readonly LogEntry[]): number[] => entries.map(({ seq }) => seq)

  it.each(['', '&order=newest', '&path=/repo/a.txt', '&path=/repo/a.txt&paths=then'])(
    'ends there%s',
    async (more) => {
      const whole = seqs(await logOf(`/log?layer=try${more}`))
      const then = seqs(await logOf(`/log?${points.at}${more}`))
      expect(then).toEqual(whole.filter((seq) => seq <= checkpoint.seq))
      expect([then.length > 0, whole.length > then.length]).toEqual([true, true])
      expect(seqs(await logOf(`/log?at=then${more}`))).toEqual(then)
      expect(seqs(await logOf(`/log?layer=then${more}`))).toEqual(then)
    },
  )

  it('the log at a checkpoint has the names of then, and so has the history of a path', async () => {
    await ok(ask('POST', '/files/repo/a.txt?move&layer=try', { to: '/repo/moved.txt' }))
    const pathsOf = (entries: readonly LogEntry[]): string[] => [
      ...new Set(entries.flatMap(({ operations }) => operations.map(({ path }) => path!))),
    ]
    expect(pathsOf(await logOf('/log?layer=try'))).toContain('/repo/moved.txt')
    expect(pathsOf(await logOf(`/log?${points.at}`))).toEqual(['/repo/a.txt'])
    const history = await logOf(`/files/repo/a.txt?history&${points.at}`)
    expect([pathsOf(history), Math.max(...seqs(history))]).toEqual([
      ['/repo/a.txt'],
      checkpoint.seq,
    ])
  })

  it('blame tells who had changed each line by then', async () => {
    const linesAt = async (point: string): Promise<string> => {
      const { parts } = await ok(ask<Blame>('GET', `/blame?path=/repo/a.txt&${point}`))
      return parts.map(({ text }) => text).join('')
    }
    expect(await linesAt('layer=try')).toBe('one\nthen\nnow\n')
    expect(await linesAt(points.at)).toBe('one\nthen\n')
    await ok(ask('DELETE', '/files/repo/a.txt?layer=try'))
    const { deleted } = await ok(ask<Blame>('GET', `/blame?path=/repo/a.txt&${points.at}`))
    expect(deleted).toBe(undefined)
  })

  it('a side and a base have no log, and the error says so', async () => {
    for (const url of [...logReaders, '/files/repo/a.txt?history&'])
      for (const point of [points.side, 'layer=try&side=layer', 'layer=try&at=base'])
        expect(await refused(ask('GET', url + point)), url + point).toMatchObject({
          code: 'invalid_argument',
          message: expect.stringContaining('trees without a log') as string,
        })
  })

  it('nothing of the past can be followed', async () => {
    for (const point of [points.at, points.side])
      expect(await refused(ask('GET', `/events?${point}`))).toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining('cannot follow a checkpoint') as string,
      })
  })
})

describe('two points at once', () => {
  it.each([
    'layer=try&at=then&side=base',
    'side=base',
    'layer=main&side=target',
    'branch=main&side=layer',
  ])('%s is refused', async (query) => {
    const error = await refused(ask('GET', `/files/repo/a.txt?${query}`))
    expect([error.code, error.subject]).toEqual(['invalid_argument', 'side'])
    expect(await refused(ask('POST', `/fork?${query}`, { name: 'forked' }))).toMatchObject({
      subject: 'side',
    })
  })
})
