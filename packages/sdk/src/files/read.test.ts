import { describe, expect, it } from 'vitest'
import { failureOf, openCairn } from '../../test/open-cairn.ts'
import { type Answer, bytes, cutAfter, error, neverAnswers } from '../../test/stub-server.ts'

const etag = { etag: '"v1"' }

function range(content: string, start: number, tag = etag): Answer {
  const end = start + content.length - 1
  return bytes(content, 206, { ...tag, 'content-range': `bytes ${start}-${end}/10` })
}

const unsatisfiable = bytes('', 416, { ...etag, 'content-range': 'bytes */10' })

describe('read', () => {
  it('a body cut in the middle goes on where it stopped', async () => {
    const { workspace, seen } = await openCairn([cutAfter('01234', 200, etag), range('56789', 5)])
    expect(await workspace.files.readText('/a')).toBe('0123456789')
    expect(seen.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=5-'])
  })

  it('a range cut in the middle asks for the rest of the range', async () => {
    const first = { ...etag, 'content-range': 'bytes 2-7/10' }
    const { workspace, seen } = await openCairn([cutAfter('23', 206, first), range('4567', 4)])
    expect(await workspace.files.readText('/a', { offset: 2, length: 6 })).toBe('234567')
    expect(seen.map(({ headers }) => headers.range)).toEqual(['bytes=2-7', 'bytes=4-7'])
  })

  it('a file that changed before it could go on is file_changed, not two halves', async () => {
    const { workspace } = await openCairn([
      cutAfter('01234', 200, etag),
      range('56789', 5, { etag: '"v2"' }),
    ])
    expect((await failureOf(workspace.files.read('/a'))).code).toBe('file_changed')
  })

  it('a file that went away before it could go on is ENOENT', async () => {
    const { workspace } = await openCairn([
      cutAfter('01234', 200, etag),
      error('file_system', 404, { errno: 'ENOENT' }),
    ])
    expect((await failureOf(workspace.files.read('/a'))).errno).toBe('ENOENT')
  })

  it('cuts without any progress are given up', async () => {
    const { workspace, seen } = await openCairn(cutAfter('', 200, etag))
    expect((await failureOf(workspace.files.read('/a'))).code).toBe('unreachable')
    expect(seen).toHaveLength(5)
  })

  it('silence in the middle of a body is a cut', async () => {
    const stalls: Answer = (response) => {
      response.writeHead(200, { ...etag, 'content-length': '10' })
      response.write('01234')
    }
    const { workspace, clock } = await openCairn([stalls, range('56789', 5)])
    const stream = await workspace.files.readStream('/a')
    const reader = stream.getReader()
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('01234')
    const rest = reader.read()
    await clock.expire()
    expect(Buffer.from((await rest).value!).toString()).toBe('56789')
  })

  it('a range after the end has no bytes', async () => {
    const { workspace } = await openCairn([unsatisfiable])
    expect(await workspace.files.read('/a', { offset: 10 })).toHaveLength(0)
  })

  it('a range of no length has no bytes, but asks whether the file is there', async () => {
    const { workspace, seen } = await openCairn([range('2', 2)])
    expect(await workspace.files.read('/a', { offset: 2, length: 0 })).toHaveLength(0)
    expect(seen[0]?.headers.range).toBe('bytes=2-2')
  })

  it('an answer that ignores the range is not taken for it', async () => {
    const { workspace } = await openCairn([bytes('0123456789', 200, etag)])
    const failure = await failureOf(workspace.files.read('/a', { offset: 5 }))
    expect(failure.code).toBe('bad_answer')
  })

  it("an etag that is no longer the file's is file_changed", async () => {
    const { workspace } = await openCairn([bytes('0123456789', 200, etag)])
    const failure = await failureOf(workspace.files.read('/a', { ifMatch: '"v0"' }))
    expect(failure.code).toBe('file_changed')
  })

  it('leaving a stream early closes the connection', async () => {
    const closed = Promise.withResolvers<void>()
    const { workspace } = await openCairn([
      (response) => {
        response.on('close', closed.resolve)
        response.writeHead(200, { ...etag, 'content-length': '1000' }).write('0')
      },
    ])
    const stream = await workspace.files.readStream('/a')
    await stream.cancel()
    await closed.promise
  })

  it('a missing file is told before there is a stream', async () => {
    const { workspace } = await openCairn([error('file_system', 404, { errno: 'ENOENT' })])
    expect((await failureOf(workspace.files.readStream('/a'))).errno).toBe('ENOENT')
  })

  it('abort ends a read that waits', async () => {
    const { workspace, arrived } = await openCairn(neverAnswers)
    const ending = new AbortController()
    const read = workspace.files.read('/a', { signal: ending.signal })
    await arrived(1)
    ending.abort(new Error('enough'))
    await expect(read).rejects.toThrow('enough')
  })
})

it('exists tells absence from failure', async () => {
  const { workspace } = await openCairn([
    error('file_system', 404, { errno: 'ENOENT' }),
    error('file_system', 409, { errno: 'ENOTDIR' }),
    error('workspace_missing', 404),
  ])
  expect(await workspace.files.exists('/a')).toBe(false)
  expect(await workspace.files.exists('/a/b')).toBe(false)
  expect((await failureOf(workspace.files.exists('/a'))).code).toBe('workspace_missing')
})
