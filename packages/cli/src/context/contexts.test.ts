import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Ran, runCli, type RunOptions, temporaryDirectory } from '../../test/run-cli.ts'

let home: string

// Answers at once that it knows no workspace. `ctx add` asks a server that does not answer for two seconds.
const stub = createServer((_, response) => response.writeHead(404).end())
let stubUrl: string
beforeAll(async () => {
  await once(stub.listen(0, '127.0.0.1'), 'listening')
  stubUrl = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
})
afterAll(() => stub.close())

const serverOf = (name: string): string => `${stubUrl}/${name}`

beforeEach(() => {
  home = temporaryDirectory()
})

const ctx = (words: string, options: Partial<RunOptions> = {}): Promise<Ran> =>
  runCli(['ctx', ...words.split(' ')], { home, ...options })

/** A key for `--api-key-file`. */
const keyFile = (key = 'k'): string => {
  const path = join(home, `file-of-${key}`)
  writeFileSync(path, key, { mode: 0o600 })
  return path
}

const add = (name: string, more = ''): Promise<Ran> =>
  ctx(
    `add --name ${name} --server ${serverOf(name)} --api-key-file ${keyFile(`key-of-${name}-0123456789`)}${more}`,
  )

const json = ({ stdout }: Ran): Record<string, unknown>[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const config = (): { currentContext: string; contexts: Record<string, unknown> } =>
  JSON.parse(readFileSync(join(home, '.cairn/config'), 'utf8')) as never

describe('ctx add, use, ls, rm', () => {
  it('the first one becomes current, others wait', async () => {
    expect((await add('a')).stdout).toBe('saved context a, the current one\n')
    expect((await add('b', ' -w site')).stdout).toBe('saved context b\n')
    expect(json(await ctx('ls --json'))).toEqual([
      { name: 'a', current: true, kind: 'owner', server: serverOf('a') },
      {
        name: 'b',
        current: false,
        kind: 'owner',
        server: serverOf('b'),
        workspace: 'site',
      },
    ])
    await ctx('use b')
    expect(config().currentContext).toBe('b')
  })

  it('the file is for its owner alone, and nothing is left beside it', async () => {
    await add('a')
    const path = join(home, '.cairn/config')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    chmodSync(path, 0o644)
    await add('b')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(home, '.cairn'))).toEqual(['config'])
  })

  it('CAIRN_CONFIG names another file', async () => {
    const path = join(home, 'elsewhere/config')
    await ctx(`add --server ${stubUrl} --api-key-file ${keyFile()}`, {
      env: { CAIRN_CONFIG: path },
    })
    expect(existsSync(path)).toBe(true)
    expect(existsSync(join(home, '.cairn'))).toBe(false)
  })

  it('the table has a star and no key', async () => {
    await add('a')
    await add('b')
    const { stdout } = await ctx('ls -l')
    expect(stdout.split('\n')[1]).toMatch(/^\* {2}a {5}owner/)
    expect(stdout).not.toContain('key-of')
    expect((await ctx('list')).stdout).toContain(serverOf('b'))
  })

  it('kinds can be chosen', async () => {
    await add('a')
    await add('b', ' --scoped')
    expect(json(await ctx('ls --scoped --json')).map(({ name }) => name)).toEqual(['b'])
    expect(json(await ctx('ls --type owner --json')).map(({ name }) => name)).toEqual(['a'])
  })

  it('rm: not the current one, not the key of an owner without --yes, else gone', async () => {
    await add('a')
    await add('b')
    expect((await ctx('rm a --yes')).stderr).toContain('it is the current one')
    expect((await ctx('rm b')).stderr).toContain('there is no terminal to ask on. Give --yes.')
    expect((await ctx('rm b --yes')).exitCode).toBe(0)
    expect(Object.keys(config().contexts)).toEqual(['a'])
    expect((await ctx('rm a -y')).exitCode).toBe(0)
    expect(config().currentContext).toBeUndefined()
  })

  it('rm asks for confirmation on a terminal', async () => {
    await add('a')
    await add('b')
    const no = await ctx('rm b', { isTerminal: true, stdin: '\n' })
    expect(no.stderr).toContain('really forget the context b and its owner key? [y/N] ')
    expect(no.exitCode).toBe(2)
    expect(Object.keys(config().contexts)).toEqual(['a', 'b'])
    expect((await ctx('rm b', { isTerminal: true, stdin: 'y\n' })).exitCode).toBe(0)
    expect(Object.keys(config().contexts)).toEqual(['a'])
  })

  it.each([
    ['add --server http://h', '--api-key-file is missing'],
    ['add --api-key-file KEY', '--server is missing'],
    ['add --server h --api-key-file KEY', "'h' is not an http or https address"],
    ['add --server http://h --api-key-file KEY --name a/b', 'it is no name'],
    ['add --server http://h --api-key-file KEY --name __proto__', 'it is no name'],
    ['use unknown', 'no context has this name. Add one with: cairn ctx add.'],
  ])('%s: %s', async (words, message) => {
    const ran = await ctx(words.replace('KEY', keyFile()))
    expect(ran.stderr).toContain(message)
    expect(ran.exitCode).toBeGreaterThan(0)
  })

  it.each([
    '{',
    '[]',
    '{"contexts":{"a":{}}}',
    '{"contexts":{"a":{"kind":"owner"}}}',
    '{"currentContext":1}',
  ])('a file that is %s is told, and not overwritten', async (text) => {
    const path = join(home, 'broken')
    writeFileSync(path, text)
    const ran = await ctx(`add --server ${stubUrl} --api-key-file ${keyFile()}`, {
      env: { CAIRN_CONFIG: path },
    })
    expect(ran.stderr).toContain(`cannot read ${path}: `)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('what a newer version has saved stays', async () => {
    const path = join(home, 'config')
    const context = { kind: 'owner', server: 'http://h', apiKey: 'k', colour: 'red' }
    writeFileSync(path, JSON.stringify({ currentContext: 'a', contexts: { a: context } }))
    await ctx('use a -w site', { env: { CAIRN_CONFIG: path } })
    const saved = JSON.parse(readFileSync(path, 'utf8')) as { contexts: unknown }
    expect(saved.contexts).toEqual({ a: { ...context, workspace: 'site' } })
  })
})

describe('ctx show: where server and key come from', () => {
  it('nowhere: says how to get there', async () => {
    const ran = await ctx('show')
    expect(ran.exitCode).toBe(3)
    expect(ran.stderr).toContain('Start one with: cairn serve')
  })

  it('the context, with the key masked unless it shall be revealed', async () => {
    await add('a')
    expect((await ctx('show')).stdout).toContain('key-****6789')
    const [shown] = json(await ctx('show --json'))
    expect(shown).toMatchObject({ source: 'context a', name: 'a', apiKey: 'key-****6789' })
    const [revealed] = json(await ctx('show --json --reveal'))
    expect(revealed).toMatchObject({ apiKey: 'key-of-a-0123456789' })
  })

  it('the environment wins over the context, CAIRN over DRIVE9, options over all', async () => {
    await add('a')
    const drive9 = { DRIVE9_SERVER: 'http://d', DRIVE9_API_KEY: 'dk' }
    const cairn = { CAIRN_SERVER: 'http://c', CAIRN_API_KEY: 'ck' }
    const source = async (words: string, env: Record<string, string>): Promise<unknown> =>
      json(await ctx(`show --json ${words}`.trim(), { env }))[0]!['server']
    expect(await source('', {})).toBe(serverOf('a'))
    expect(await source('', drive9)).toBe('http://d')
    expect(await source('', { ...drive9, ...cairn })).toBe('http://c')
    expect(await source('--context a', cairn)).toBe(serverOf('a'))
    expect(await source(`--server http://o --api-key-file ${keyFile()}`, cairn)).toBe('http://o')
  })

  it('a key can come from a file that only its owner can read', async () => {
    const file = join(home, 'key')
    writeFileSync(file, 'key-in-a-file-0123456789\n', { mode: 0o600 })
    const words = `show --json --reveal --server http://o --api-key-file ${file}`
    expect(json(await ctx(words))[0]).toMatchObject({
      server: 'http://o',
      apiKey: 'key-in-a-file-0123456789',
    })
    expect((await ctx(`${words} --api-key k`)).exitCode).toBe(2)
    expect((await ctx(`show --api-key-file ${file}`)).stderr).toContain('one of them is missing')
    chmodSync(file, 0o644)
    expect((await ctx(words)).stderr).toContain(`others can read it. Run: chmod 600 ${file}`)
  })

  it('the workspace of the environment goes with all but a context that is named', async () => {
    await add('a', ' -w own')
    const env = { CAIRN_WORKSPACE: 'env' }
    const workspace = async (words: string, more: object = {}): Promise<unknown> =>
      json(await ctx(`show --json ${words}`.trim(), { env: { ...env, ...more } }))[0]!['workspace']
    expect(await workspace('')).toBe('env')
    expect(await workspace('--context a')).toBe('own')
    expect(await workspace('', { CAIRN_SERVER: 'http://c', CAIRN_API_KEY: 'k' })).toBe('env')
    expect(await workspace(`--server http://o --api-key-file ${keyFile()}`)).toBe('env')
  })

  it.each([
    [{ CAIRN_API_KEY: 'k' }, '', 'CAIRN_SERVER is not set'],
    [{ CAIRN_SERVER: 'http://c', DRIVE9_API_KEY: 'k' }, '', 'CAIRN_API_KEY is not set'],
    [{}, ' --server http://o', 'one of them is missing'],
    [{}, ' --api-key-file KEY', 'one of them is missing'],
    [{}, ' --server http://o --api-key-file KEY --context a', 'a context is named as well'],
  ] as [Record<string, string>, string, string][])(
    'a key never goes to a server it does not belong to: %j%s',
    async (env, words, message) => {
      await add('a')
      expect((await ctx(`show${words.replace('KEY', keyFile())}`, { env })).stderr).toContain(
        message,
      )
    },
  )
})

describe('ctx import', () => {
  const token = (claims: object): string =>
    ['{}', JSON.stringify(claims), 'signature']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.')
  const claims = { iss: 'https://c.example.org', sub: 'alice', scope: ['/src'], exp: 1_000_000_000 }

  it('from standard input: its issuer is the server, its subject the name', async () => {
    const ran = await ctx('import --from-file -', { stdin: `${token(claims)}\n` })
    expect(ran.stderr).toBe('')
    expect(json(await ctx('ls --json'))[0]).toEqual({
      name: 'alice',
      current: true,
      kind: 'delegated',
      server: 'https://c.example.org',
      scope: ['/src'],
      expiresAt: '2001-09-09T01:46:40.000Z',
    })
    expect((await ctx('ls -l')).stdout).toContain('expired')
  })

  it('keys are read from a file only if no other user can read it', async () => {
    const path = join(home, 'token')
    writeFileSync(path, token(claims), { mode: 0o644 })
    expect((await ctx(`import --from-file ${path}`)).stderr).toContain(`Run: chmod 600 ${path}`)
    chmodSync(path, 0o600)
    expect((await ctx(`import --from-file ${path} --name bob`)).exitCode).toBe(0)
    const again = await ctx(`import --from-file ${path} --name bob`)
    expect(again.stderr).toContain('the name is taken')
  })

  it('a token as an argument is refused', async () => {
    expect((await ctx(`import ${token(claims)}`)).stderr).toContain('is one argument too many')
  })

  it.each(['', 'no.token', 'a.b.c', token({ sub: 'alice' })])('%j is refused', async (stdin) => {
    expect((await ctx('import --from-file -', { stdin })).exitCode).toBe(2)
  })
})

describe('a secret among the arguments, where other users of the machine see it', () => {
  it.each([
    ['--api-key key-0123456789', '--api-key-file FILE'],
    [`--token cairn_t1.id.signature`, '--token FILE'],
  ])('%s: saved, with a line that says how to do it next time', async (words, safe) => {
    const ran = await ctx(`add --name seen --server ${serverOf('seen')} ${words}`)
    expect(ran.stderr).toContain(`warning: other users of this machine could see that secret`)
    expect(ran.stderr).toContain(
      `Next time: ${safe}, or ${safe.split(' ')[0]} - for standard input`,
    )
    expect(ran.exitCode).toBe(0)
  })

  it('from a file that only you can read: nothing to say, also of a token', async () => {
    const ran = await ctx(
      `add --name unseen --server ${serverOf('unseen')} --token ${keyFile('cairn_t1.id.signature')}`,
    )
    expect([ran.exitCode, ran.stderr]).toEqual([0, ''])
  })
})
