// Tokens as people type them and programs use them, against a real server.
import { Cairn, isCairnError, type IssuedToken, narrowToken, type TokenInfo } from '@cairn/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn, 'prod')

beforeAll(async () => {
  const { files } = await server.enter('website')
  for (const path of ['/repo/src/a', '/repo/src/keys/k', '/repo/tests/t', '/secret/s'])
    await files.write(path, `in ${path}`)
})

const issue = (...words: string[]): Promise<string> =>
  cairn.text('token', 'issue', ...words, '--token-only').then((text) => text.trim())
const as = (key: string): { env: Record<string, string> } => ({
  env: { CAIRN_SERVER: server.url, CAIRN_API_KEY: key, CAIRN_WORKSPACE: 'website' },
})
const filesOf = (apiKey: string) =>
  new Cairn({ server: server.url, apiKey }).workspace('website').files

describe('cairn token', () => {
  it('issue, use in the environment, list, show and revoke', async () => {
    const allow = [
      '--allow',
      '/repo/src:read,list,search,write',
      '--allow',
      '/repo/tests:read,list',
    ]
    const token = await issue('agent-17', '--ttl', '1h', ...allow)
    const ran = await cairn.run(['fs', 'cat', ':/repo/tests/t'], as(token))
    expect([ran.code, ran.stdout.toString()]).toEqual([0, 'in /repo/tests/t'])
    const denied = await cairn.run(['fs', 'rm', ':/repo/src/a'], as(token))
    expect([denied.code, denied.stderr]).toEqual([8, expect.stringContaining('delete')])
    const hidden = await cairn.run(['fs', 'cat', ':/secret/s'], as(token))
    expect(hidden.stderr).toContain('no such file')
    const listed = await cairn.run(['fs', 'ls', ':/'], as(token))
    expect(listed.stdout.toString().trim()).toBe('repo/')
    expect(await cairn.text('token', 'list')).toMatch(
      /agent-17 +live .*\/repo\/src:read,list,search,write/,
    )
    const own = await cairn.run(['token', 'show'], as(token))
    expect(own.stdout.toString()).toMatch(
      /allows: +\/repo\/src:read,list,search,write \/repo\/tests:read,list/,
    )
    expect(await cairn.text('token', 'revoke', 'agent-17')).toMatch(/revoked agent-17 \(tok_/)
    const after = await cairn.run(['fs', 'cat', ':/repo/tests/t', '--json'], as(token))
    expect([after.code, after.stderr]).toEqual([3, expect.stringContaining('access_ended')])
    const [shown] = await cairn.json<TokenInfo>('token', 'show', 'agent-17')
    expect(shown).toMatchObject({
      state: 'revoked',
      issuedBy: 'default',
    })
    expect(JSON.stringify(shown)).not.toContain(token.split('.').at(-1))
  })

  it('narrow needs no server, and what it makes is never more', async () => {
    const token = await issue('wide', '--ttl', '1h', '--allow', '/repo:read,list,write')
    const elsewhere = { env: { CAIRN_SERVER: 'http://127.0.0.1:9', CAIRN_API_KEY: token } }
    const words = [
      'token',
      'narrow',
      '--allow',
      '/repo/src:read,list,delete',
      '--deny',
      '/repo/src/keys',
    ]
    const narrowed = (await cairn.run(words, elsewhere)).stdout.toString().trim()
    const files = filesOf(narrowed)
    expect(await files.readText('/repo/src/a')).toBe('in /repo/src/a')
    for (const path of ['/repo/tests/t', '/repo/src/keys/k'])
      expect(await errnoOf(files.readText(path)), path).toBe('ENOENT')
    expect(await errnoOf(files.write('/repo/src/a', 'x'))).toBe('EACCES')
    expect(await errnoOf(files.remove('/repo/src/a'))).toBe('EACCES')
    const wider = await narrowToken(narrowed, {
      allow: [{ path: '/', operations: ['read', 'write'] }],
    })
    expect(await errnoOf(filesOf(wider).write('/repo/src/a', 'x'))).toBe('EACCES')
    const piped = await cairn.run(['token', 'narrow', '--from-file', '-', '--ttl', '1ms'], {
      stdin: token,
    })
    expect(await codeOf(filesOf(piped.stdout.toString().trim()).readText('/repo/src/a'))).toBe(
      'access_ended',
    )
    await cairn.text('token', 'revoke', 'wide')
    expect(await codeOf(files.readText('/repo/src/a'))).toBe('access_ended')
  })

  it('ctx add --token, from standard input too, and refresh', async () => {
    const token = await issue('ctx', '--ttl', '1s', '--allow', '/repo:read,list')
    const words = [
      'ctx',
      'add',
      '--name',
      'agent',
      '--server',
      server.url,
      '--token',
      '-',
      '-w',
      'website',
    ]
    expect((await cairn.run(words, { stdin: `${token}\n` })).code).toBe(0)
    expect(await cairn.text('ctx', 'ls')).toMatch(/agent .*fs_scoped/)
    await expect
      .poll(() => codeOf(filesOf(token).readText('/repo/src/a')), { timeout: 5000 })
      .toBe('access_ended')
    expect(await cairn.text('token', 'refresh', 'ctx', '--ttl', '1h')).toContain('is good until')
    expect(await cairn.text('fs', 'cat', 'agent:/repo/src/a')).toBe('in /repo/src/a')
    expect(await cairn.error('token', 'list', '--context', 'agent')).toMatchObject({
      code: 'forbidden',
      exit: 8,
    })
  })

  it('issue says in one line what the token can do, and ctx add asks for its workspace', async () => {
    const words = [
      '--ttl',
      '1h',
      '--allow',
      '/repo/src:read,list,write',
      '--deny',
      '/repo/src/keys',
    ]
    const issued = await cairn.run(['token', 'issue', 'said', ...words])
    expect(issued.stderr).toContain(
      'it can read, list and write /repo/src (and remove only what it creates); nothing in /repo/src/keys\n',
    )
    const add = ['ctx', 'add', '--name', 'said', '--server', server.url, '--token', '-']
    const added = await cairn.run(add, { stdin: issued.stdout.toString() })
    expect(added.stdout.toString()).toBe('saved context said for workspace website\n')
    expect(await cairn.text('fs', 'cat', 'said:/repo/src/a')).toBe('in /repo/src/a')
  })

  it.each([
    [['x', '--allow', '/a:read'], /--ttl is missing/],
    [['x', '--ttl', '1h'], /--allow is missing/],
    [['x', '--ttl', '1h', '--allow', '/a:fly'], /'fly' is none of/],
    [['x', '--ttl', '1h', '--allow', '/a:search'], /search needs read/],
    [['x', '--ttl', 'soon', '--allow', '/a:read'], /1h, 7d/],
  ])('issue %j says what is wrong', async (words, why) => {
    const { code, stderr } = await cairn.run(['token', 'issue', ...words])
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)])
  })
})

describe('workspace.tokens', () => {
  it('issue gives what a sandbox needs, and the secret once', async () => {
    const { tokens } = server.cairn.workspace('website')
    const ask = { ttlMs: 60_000, allow: [{ path: '/repo', operations: ['read', 'list'] as const }] }
    const issued: IssuedToken = await tokens.issue('box', { ...ask, maxFiles: 3 })
    expect(issued).toMatchObject({ name: 'box', id: expect.stringMatching(/^tok_/) as string })
    expect(new Date(issued.expiresAt).getTime()).toBeGreaterThan(Date.now())
    expect(await filesOf(issued.secret).readText('/repo/tests/t')).toBe('in /repo/tests/t')
    const shown = await tokens.show(issued.id)
    expect(shown).toMatchObject({ maxFiles: 3, used: { bytes: 0, files: 0 } })
    expect(shown).not.toHaveProperty('secret')
    await tokens.issue('box', ask)
    expect(await codeOf(tokens.show('box'))).toBe('reference_ambiguous')
    expect(await tokens.revoke('box')).toHaveLength(2)
    expect(await codeOf(tokens.show('unknown'))).toBe('token_missing')
  })
})

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return isCairnError(error) ? error.code : 'done'
}

async function errnoOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await promise.catch((reason: unknown) => reason)
  return isCairnError(error) ? error.errno : undefined
}
