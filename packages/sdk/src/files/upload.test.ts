import { describe, expect, it } from 'vitest'
import { failureOf, openCairn, type TestCairn } from '../../test/open-cairn.ts'
import { type Answer, error, json } from '../../test/stub-server.ts'
import type { UploadProgress } from './upload.ts'

const blockBytes = 4
const receipt = { seq: 9 }

interface UploadStub extends TestCairn {
  readonly blocks: Map<number, string>
  readonly completed: { path: string; size: number }[]
  /** The most blocks that were on their way at a time. */
  busiest(): number
}

/** Just enough of the uploads of docs/reference/http.md. */
async function openUploads(
  present: Record<number, string> = {},
  fail?: Answer,
): Promise<UploadStub> {
  const blocks = new Map(Object.entries(present).map(([number, text]) => [Number(number), text]))
  const completed: UploadStub['completed'] = []
  let failing = fail
  let running = 0
  let most = 0
  const open = await openCairn((response, request) => {
    const number = /\/uploads\/u1\/blocks\/(\d+)/.exec(request.url)?.[1]
    if (number !== undefined) {
      const refusal = failing
      failing = undefined
      if (refusal) return refusal(response, request)
      most = Math.max(most, ++running)
      blocks.set(Number(number), request.body.toString())
      setImmediate(() => {
        running--
        response.writeHead(204).end()
      })
    } else if (request.url.includes('/uploads/u1/complete')) {
      completed.push(JSON.parse(request.body.toString()) as { path: string; size: number })
      json(receipt)(response, request)
    } else if (/\/uploads(\/u1)?\?/.test(`${request.url}?`)) {
      json({ id: 'u1', blockBytes, blocks: [...blocks.keys()] }, 201)(response, request)
    } else error('not_found', 404)(response, request)
  })
  return { ...open, blocks, completed, busiest: () => most }
}

const textOf = ({ blocks }: UploadStub): string =>
  [...blocks.entries()]
    .toSorted(([a], [b]) => a - b)
    .map(([, text]) => text)
    .join('|')

function streamOf(...chunks: string[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk)))
}

describe('upload', () => {
  it.each([
    ['nothing', '', ''],
    ['a block less one', '012', '012'],
    ['a block', '0123', '0123'],
    ['a block and one', '01234', '0123|4'],
    ['three blocks', '0123456789ab', '0123|4567|89ab'],
  ])('%s, from bytes, a Blob and a stream alike', async (_, text, wanted) => {
    for (const source of [text, Buffer.from(text), new Blob([text]), streamOf(text)]) {
      const stub = await openUploads()
      expect(await stub.workspace.files.upload('/big', source, { mode: 0o600 })).toEqual(receipt)
      expect(textOf(stub)).toBe(wanted)
      expect(stub.completed).toEqual([
        { path: '/big', size: text.length, mode: '0600', parents: true },
      ])
    }
  })

  it('a stream of odd pieces is cut into even blocks', async () => {
    const stub = await openUploads()
    await stub.workspace.files.upload('/big', streamOf('0', '12345678', '', '9', 'abcde'))
    expect(textOf(stub)).toBe('0123|4567|89ab|cde')
  })

  it('sends several blocks at a time, but not all', async () => {
    const stub = await openUploads()
    await stub.workspace.files.upload('/big', 'x'.repeat(200))
    expect(stub.busiest()).toBeGreaterThan(1)
    expect(stub.busiest()).toBeLessThanOrEqual(16)
  })

  it('goes on with an earlier upload: only what is missing is sent', async () => {
    const stub = await openUploads({ 0: '0123', 2: '89ab' })
    const progress: UploadProgress[] = []
    await stub.workspace.files.upload('/big', '0123456789abcd', {
      resumeId: 'u1',
      onProgress: (state) => progress.push(state),
    })
    expect(textOf(stub)).toBe('0123|4567|89ab|cd')
    const sent = stub.seen
      .filter(({ url }) => url.includes('/blocks/'))
      .map(({ url }) => url.slice(url.lastIndexOf('/') + 1))
    expect(sent.toSorted()).toEqual(['1?path=%2Fbig', '3?path=%2Fbig'])
    expect(stub.seen[0]).toMatchObject({ method: 'GET', url: '/v1/workspaces/w/uploads/u1' })
    expect(progress[0]).toEqual({ uploadId: 'u1', sentBytes: 0, totalBytes: 14 })
    expect(progress.at(-1)).toEqual({ uploadId: 'u1', sentBytes: 14, totalBytes: 14 })
  })

  it('a block that met a passing failure is sent again', async () => {
    const stub = await openUploads({}, error('storage_unavailable', 503))
    await stub.workspace.files.upload('/big', '01234567')
    expect(textOf(stub)).toBe('0123|4567')
  })

  it('a block that is refused ends it; nothing is completed and the source is let go', async () => {
    const stub = await openUploads({}, error('too_large', 413))
    let wasCancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.from('0123')),
      cancel: () => void (wasCancelled = true),
    })
    expect((await failureOf(stub.workspace.files.upload('/big', endless))).code).toBe('too_large')
    expect(stub.completed).toEqual([])
    expect(wasCancelled).toBe(true)
  })

  it('the deadline holds for all of it', async () => {
    const stub = await openUploads({}, () => {})
    const upload = stub.workspace.files.upload('/big', '01234567', { timeoutMs: 20_000 })
    const failure = failureOf(upload)
    await stub.arrived(2)
    await stub.clock.expire()
    expect((await failure).code).toBe('timed_out')
  })
})

describe('write', () => {
  it('abort ends it while the stream gives nothing, and what it gave is not written', async () => {
    const { workspace, seen } = await openCairn([])
    const ending = new AbortController()
    let wasCancelled = false
    const waiting = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('half')),
      cancel: () => void (wasCancelled = true),
    })
    const write = workspace.files.write('/a', waiting, { signal: ending.signal })
    setImmediate(() => ending.abort(new Error('enough')))
    await expect(write).rejects.toThrow('enough')
    expect(wasCancelled).toBe(true)
    expect(seen).toHaveLength(0)
  })

  it('a small stream is one request', async () => {
    const { workspace, seen } = await openCairn([json(receipt)])
    await workspace.files.write('/a', streamOf('hel', 'lo'), { ifAbsent: true, mode: '600' })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({
      method: 'PUT',
      url: '/v1/workspaces/w/files/a?mode=0600',
      headers: { 'if-none-match': '*' },
    })
    expect(seen[0]?.body.toString()).toBe('hello')
  })

  it('what is larger than 8 MiB goes in blocks', async () => {
    const large = new Uint8Array((8 << 20) + 1)
    const { workspace, seen } = await openCairn((response, request) => {
      const upload = { id: 'u1', blockBytes: 8 << 20, blocks: [] }
      const answer = request.url.endsWith('/uploads') ? json(upload) : json(receipt)
      answer(response, request)
    })
    await workspace.files.write('/a', large, { ifMatch: '"e"', parents: false })
    await workspace.files.write('/b', ReadableStream.from([large]))
    const requests = seen.map(({ method, url }) => `${method} ${url.split('/').slice(4).join('/')}`)
    // Where the bytes will go is said with each block: a token's budget counts them as they arrive.
    const wanted = (path: string): string[] => [
      'POST uploads',
      'POST uploads/u1/complete',
      `PUT uploads/u1/blocks/0?path=${path}`,
      `PUT uploads/u1/blocks/1?path=${path}`,
    ]
    expect(requests.slice(0, 4).toSorted()).toEqual(wanted('%2Fa'))
    expect(requests.slice(4).toSorted()).toEqual(wanted('%2Fb'))
    expect(JSON.parse(seen[3]!.body.toString())).toEqual({
      path: '/a',
      size: large.length,
      ifMatch: '"e"',
      parents: false,
    })
  })

  it('a patch names its range', async () => {
    const { workspace, seen } = await openCairn([json(receipt)])
    await workspace.files.patch('/a', 10, Buffer.from('xyz'), { ifMatch: '"e"' })
    expect(seen[0]).toMatchObject({
      method: 'PATCH',
      headers: { 'content-range': 'bytes 10-12/*', 'if-match': '"e"' },
    })
  })

  it('a patch of nothing is refused, because no range can say it', async () => {
    const { workspace } = await openCairn([])
    expect((await failureOf(workspace.files.patch('/a', 0, new Uint8Array()))).code).toBe(
      'invalid_argument',
    )
  })
})
