import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ran, runCli, type RunOptions, temporaryDirectory } from '../../test/run-cli.ts'

const key = 'key-of-a-user-0123456789'
let home: string
let door: Server
let url: string

/** As much of a server as login asks for; the real one is in test/e2e. */
beforeEach(async () => {
  home = temporaryDirectory()
  door = createServer(({ headers }, response) => {
    const isTaken = headers.authorization === `Bearer ${key}`
    response.writeHead(isTaken ? 200 : 401, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        isTaken
          ? { items: [] }
          : { error: { code: 'unauthenticated', what: 'answer', reason: 'no', message: 'no' } },
      ),
    )
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
})
afterEach(() => {
  door.closeAllConnections()
  door.close()
})

const cairn = (words: string, options: Partial<RunOptions> = {}): Promise<Ran> =>
  runCli(words.split(' '), { home, ...options })
/** A key for `--api-key-file`. */
const keyFile = (text = key): string => {
  const path = join(home, `file-of-${text}`)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
const file = (): string => join(home, '.cairn/credentials.json')
const shown = async (options: Partial<RunOptions> = {}): Promise<Record<string, unknown>> =>
  JSON.parse((await cairn('ctx show --json --reveal', options)).stdout) as Record<string, unknown>

function writeByHand(value: unknown): void {
  mkdirSync(join(home, '.cairn'), { recursive: true })
  writeFileSync(file(), typeof value === 'string' ? value : JSON.stringify(value))
}

describe('login', () => {
  it('saves what the server has taken, for its owner alone', async () => {
    const ran = await cairn(`login --server ${url} --api-key-file - -w site`, { stdin: `${key}\n` })
    expect(ran).toEqual({
      exitCode: 0,
      stdout: `logged in at ${url}, workspace site\n`,
      stderr: '',
    })
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      token: key,
      apiUrl: url,
      workspace: 'site',
    })
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(statSync(join(home, '.cairn')).mode & 0o777).toBe(0o700)
  })

  it('a key that the server refuses replaces nothing', async () => {
    await cairn(`login --server ${url} --api-key-file ${keyFile()}`)
    const ran = await cairn(`login --server ${url} --api-key-file ${keyFile('wrong')}`)
    expect(ran.exitCode).not.toBe(0)
    expect(readFileSync(file(), 'utf8')).toContain(key)
  })

  it('again needs no server: the last one is meant', async () => {
    await cairn(`login --server ${url} --api-key-file ${keyFile()}`)
    expect((await cairn(`login --api-key-file ${keyFile()}`)).stdout).toBe(`logged in at ${url}\n`)
  })

  it.each([
    ['login', '--server is missing'],
    ['login --server http://127.0.0.1:1', '--api-key-file is missing'],
  ])('%s: %s', async (words, message) => {
    const ran = await cairn(words)
    expect(ran.stderr).toContain(message)
    expect(ran.exitCode).toBe(2)
  })

  it('tells of a context that comes before it', async () => {
    await cairn(`ctx add --name a --server http://a --api-key-file ${keyFile('k')}`)
    const ran = await cairn(`login --server ${url} --api-key-file ${keyFile()}`)
    expect(ran.stderr).toContain('the current context a comes first')
  })
})

describe('credentials.json', () => {
  it('credentials.json is used when nothing else is said, also when another program wrote it', async () => {
    writeByHand({ token: key, apiUrl: url, orgId: 'x', workspace: 'site' })
    chmodSync(file(), 0o644)
    expect(await shown()).toEqual({
      source: 'login (~/.cairn/credentials.json)',
      server: url,
      apiKey: key,
      workspace: 'site',
    })
  })

  it('comes after the environment and a saved context', async () => {
    writeByHand({ token: key, apiUrl: url })
    const env = { CAIRN_SERVER: 'http://env', CAIRN_API_KEY: 'k' }
    expect(await shown({ env })).toMatchObject({ server: 'http://env' })
    await cairn(`ctx add --name a --server http://context --api-key-file ${keyFile('k')}`)
    expect(await shown()).toMatchObject({ server: 'http://context' })
  })

  it.each(['{', '[]', '{"token":"t"}', '{"token":"t","apiUrl":"http://h","workspace":1}'])(
    'credentials.json that is %s is told with its path',
    async (text) => {
      writeByHand(text)
      const ran = await cairn('ctx show')
      expect(ran.stderr).toContain(`cannot read ${file()}: `)
      expect(ran.exitCode).toBe(3)
    },
  )
})

it('logout removes the file, and is content without one', async () => {
  await cairn(`login --server ${url} --api-key-file ${keyFile()}`)
  expect((await cairn('logout')).stdout).toBe('logged out\n')
  expect(existsSync(file())).toBe(false)
  expect(await cairn('logout --json')).toMatchObject({
    exitCode: 0,
    stdout: '{"wasLoggedIn":false}\n',
  })
})
