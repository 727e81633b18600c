import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { failureOf, openCairn } from '../../test/open-cairn.ts'
import { bytes, cutAfter, error, json, neverAnswers } from '../../test/stub-server.ts'
import { TestClock } from '../../test/test-clock.ts'
import { Cairn } from '../cairn.ts'

const receipt = { seq: 7 }

describe('sending again', () => {
  it('a mutation that met a 503 is sent again with the same key', async () => {
    const { workspace, seen, clock } = await openCairn([
      error('storage_unavailable', 503, { retry: 'same-request' }),
      json(receipt),
    ])
    expect(await workspace.files.write('/a', 'hello')).toEqual(receipt)
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys).toEqual([keys[0], keys[0]])
    expect(seen.map(({ body }) => body.toString())).toEqual(['hello', 'hello'])
    expect(clock.pauses).toEqual([200])
  })

  it('two mutations have different keys, and a read has none', async () => {
    const { workspace, seen } = await openCairn(json(receipt))
    await workspace.files.mkdir('/a')
    await workspace.files.mkdir('/a')
    await workspace.files.stat('/a')
    const [first, second, third] = seen.map(({ headers }) => headers['idempotency-key'])
    expect(first).not.toBe(second)
    expect(third).toBeUndefined()
  })

  it('an answer cut in the middle is asked for again, with the same key', async () => {
    const { workspace, seen } = await openCairn([cutAfter('{"seq"'), json(receipt)])
    expect(await workspace.files.chmod('/a', 0o755)).toEqual(receipt)
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  it.each([429, 502, 503, 504])('%i passes, also when a proxy says it', async (status) => {
    const { workspace, seen } = await openCairn([bytes('<html>', status), json(receipt)])
    await workspace.files.stat('/a')
    expect(seen).toHaveLength(2)
  })

  it('any error that says same-request passes', async () => {
    const { workspace } = await openCairn([
      error('from_the_future', 500, { retry: 'same-request' }),
      json(receipt),
    ])
    expect(await workspace.files.stat('/a')).toEqual(receipt)
  })

  it('Retry-After is waited for', async () => {
    const { workspace, clock } = await openCairn([
      bytes('', 429, { 'retry-after': '7' }),
      json(receipt),
    ])
    await workspace.files.stat('/a')
    expect(clock.pauses).toEqual([7000])
  })

  it('after five attempts it gives up, with pauses that double', async () => {
    const { workspace, seen, clock } = await openCairn(error('storage_unavailable', 503))
    const failure = await failureOf(workspace.files.stat('/a'))
    expect(failure.code).toBe('storage_unavailable')
    expect(seen).toHaveLength(5)
    expect(clock.pauses).toEqual([200, 400, 800, 1600])
  })

  it.each([400, 403, 404, 409, 412, 500])('%i is final', async (status) => {
    const { workspace, seen } = await openCairn(error('some_code', status))
    await failureOf(workspace.files.mkdir('/a'))
    expect(seen).toHaveLength(1)
  })
})

describe('a server that is not there or silent', () => {
  it('a server that does not listen is unreachable, and the error says what to check', async () => {
    const clock = new TestClock()
    const cairn = new Cairn({ server: 'http://127.0.0.1:1', apiKey: 'k', clock })
    const failure = await failureOf(cairn.workspaces.get('w'))
    expect(failure.code).toBe('unreachable')
    expect(failure.message).toContain('cannot look up the workspace w: ')
    expect(failure.message).toContain('Check the address')
    expect(clock.pauses).toHaveLength(4)
  })

  it('one that takes the request and says nothing is asked again', async () => {
    const { workspace, arrived, clock } = await openCairn([neverAnswers, json(receipt)])
    const stat = workspace.files.stat('/a')
    await arrived(1)
    await clock.expire()
    expect(await stat).toEqual(receipt)
  })

  it('the deadline of a call ends it, without another attempt', async () => {
    const { workspace, seen, arrived, clock } = await openCairn(neverAnswers)
    const failure = failureOf(workspace.files.stat('/a', { timeoutMs: 20_000 }))
    await arrived(1)
    await clock.expire()
    expect(await failure).toMatchObject({ code: 'timed_out' })
    expect(seen).toHaveLength(1)
  })

  it('the deadline of the client holds for calls that have none', async () => {
    const { workspace, arrived, clock } = await openCairn(neverAnswers, { timeoutMs: 20_000 })
    const failure = failureOf(workspace.files.read('/a'))
    await arrived(1)
    await clock.expire()
    expect((await failure).message).toMatch(/^cannot read \/a: no answer within 20000 ms\. /)
  })
})

describe('abort', () => {
  it('ends a waiting call with the reason', async () => {
    const { workspace, arrived } = await openCairn(neverAnswers)
    const ending = new AbortController()
    const stat = workspace.files.stat('/a', { signal: ending.signal })
    await arrived(1)
    const reason = new Error('enough')
    ending.abort(reason)
    await expect(stat).rejects.toBe(reason)
  })

  it('before the call, nothing is sent', async () => {
    const { workspace, seen } = await openCairn(json(receipt))
    await expect(workspace.files.mkdir('/a', { signal: AbortSignal.abort() })).rejects.toThrow(
      'aborted',
    )
    expect(seen).toHaveLength(0)
  })

  it('a signal that outlives many calls collects no listeners', async () => {
    const { workspace } = await openCairn(json(receipt))
    const { signal } = new AbortController()
    for (let i = 0; i < 20; i++) await workspace.files.stat('/a', { signal, timeoutMs: 60_000 })
    expect(getEventListeners(signal, 'abort').length).toBeLessThan(5)
  })
})

describe('what goes out and comes back', () => {
  it('a request carries the key, the branch and the encoded path', async () => {
    const { cairn, seen } = await openCairn(json(receipt))
    const files = cairn.workspace('a b', { branch: 'fix/1' }).files
    await files.mkdir('/ä/100%?#.txt', { parents: true })
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/v1/workspaces/a%20b/files/%C3%A4/100%25%3F%23.txt?mkdir=true&branch=fix%2F1',
      headers: { authorization: 'Bearer key-1', 'content-type': 'application/json' },
    })
    expect(JSON.parse(seen[0]!.body.toString())).toEqual({ parents: true })
  })

  it('a path of bytes goes out as these bytes', async () => {
    const { workspace, seen } = await openCairn(json(receipt))
    await workspace.files.stat(Uint8Array.of(0x2f, 0xff, 0x2e))
    expect(seen[0]?.url).toBe('/v1/workspaces/w/files/%FF.?stat=true')
  })

  it.each(['/a/../b', '..', '/a\0b', '/\ud800', `/${'n'.repeat(256)}`, '/n'.repeat(2048)])(
    'the path %j never leaves: a URL parser would make another path of it',
    async (path) => {
      const { workspace, seen } = await openCairn(json(receipt))
      const refused = await failureOf(workspace.files.stat(path))
      expect(refused.code).toBe('file_system')
      expect(['EINVAL', 'ENAMETOOLONG']).toContain(refused.errno)
      expect(seen).toHaveLength(0)
    },
  )

  it.each(['', '.', '..'])('the workspace %j is no name', (name) => {
    const cairn = new Cairn({ server: 'http://127.0.0.1:1', apiKey: 'k' })
    expect(() => cairn.workspace(name)).toThrow('is no name')
  })

  it.each(['', 'cairn.example.org', 'ftp://cairn.example.org', 'http://u:p@h/', 'http://h/?a=b'])(
    'the server %j is refused',
    (server) => {
      expect(() => new Cairn({ server, apiKey: 'k' })).toThrow('is not an http or https address')
    },
  )

  it.each(['', 'a b', 'a\nb', 'clé'])('the key %j is refused', (apiKey) => {
    expect(() => new Cairn({ server: 'http://h', apiKey })).toThrow('cannot use the API key')
  })

  it('an answer of the file system has the reason and hint of the server, and names the request', async () => {
    const { workspace } = await openCairn(
      error('file_system', 404, { errno: 'ENOENT', reason: 'no such file or directory' }),
    )
    const failure = await failureOf(workspace.files.read('/a'))
    expect(failure).toMatchObject({
      code: 'file_system',
      errno: 'ENOENT',
      status: 404,
      requestId: 'request-1',
      retry: 'never',
    })
    expect(failure.message).toBe('cannot read /a: no such file or directory. Do it so.')
  })

  it("an error has every field of the server's, and names what the caller asked for", async () => {
    const { cairn } = await openCairn(
      error('workspace_exists', 409, { reason: 'the name is taken', subject: 'w' }),
    )
    const failure = await failureOf(cairn.workspaces.create('w'))
    expect(failure.message).toBe('cannot make the workspace w: the name is taken. Do it so.')
    expect(failure).toMatchObject({
      what: 'make the workspace w',
      reason: 'the name is taken',
      hint: 'Do it so.',
      subject: 'w',
    })
  })

  it('a code of a newer server is kept, with the hint of that server', async () => {
    const { cairn } = await openCairn(error('of_a_newer_server', 409))
    const failure = await failureOf(cairn.workspaces.create('w'))
    expect([failure.code, failure.retry, failure.hint]).toEqual([
      'of_a_newer_server',
      'never',
      'Do it so.',
    ])
  })

  it('the failed one of a batch is named', async () => {
    const { workspace } = await openCairn(
      error('file_system', 409, { reason: 'operations[3]: file exists', subject: 'operations[3]' }),
    )
    const failure = await failureOf(workspace.batch([]))
    expect(failure.subject).toBe('operations[3]')
    expect(failure.message).toContain('operations[3]: file exists')
  })

  it.each([
    ['an error page', bytes('<html>no such page</html>', 404)],
    ['JSON that is no error of ours', json({ message: 'no' }, 404)],
    ['success without JSON', bytes('<html>welcome</html>', 200)],
  ])('%s is a bad_answer', async (_, answer) => {
    const { workspace } = await openCairn([answer])
    expect((await failureOf(workspace.files.stat('/a'))).code).toBe('bad_answer')
  })
})
