import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { useCairn } from './run-cairn.ts'
import { startServer, type TestServer } from './start-server.ts'

interface Listed {
  readonly mountPoint: string
  readonly workspace: string
  readonly isRunning: boolean
}

describe.skipIf(noMount)('init, for those who come with a credentials file', () => {
  const cairn = useCairn()
  let server: TestServer
  const place = (...names: string[]): string => join(cairn.home(), ...names)

  beforeAll(async () => {
    server = await startServer()
    mkdirSync(place('.cairn'))
    writeCredentials(server.apiKey)
  })
  afterEach(async () => {
    for (const { mountPoint } of await cairn.json<Listed>('list'))
      await cairn.text('stop', mountPoint)
  })
  afterAll(() => server.stop())

  function writeCredentials(token: string, more: object = {}): void {
    const credentials = { token, apiUrl: server.url, ...more }
    writeFileSync(place('.cairn/credentials.json'), JSON.stringify(credentials))
  }

  it('makes the workspace, mounts it, and is in the list; again it finds all of it done', async () => {
    const mounted = `mounted fresh:/ on ${place('data')}; end it with: cairn umount data\n`
    expect(await cairn.text('init', '--table', 'fresh', '--path', 'data')).toBe(
      `made workspace fresh\n${mounted}`,
    )
    // Not synchronously: the server is in this process.
    await writeFile(place('data/results.txt'), 'done\n')
    expect(await cairn.text('init', '--workspace', 'fresh', '--path', 'data')).toBe(mounted)
    await expect(readFile(place('data/results.txt'), 'utf8')).resolves.toBe('done\n')
    expect(await cairn.json<Listed>('list')).toMatchObject([
      { workspace: 'fresh', mountPoint: place('data'), isRunning: true },
    ])
    await cairn.text('stop', 'data')
    await expect(server.cairn.workspace('fresh').files.readText('/results.txt')).resolves.toBe(
      'done\n',
    )
  })

  it('another workspace at the same place is an error, and the first one stays', async () => {
    await cairn.text('init', '-w', 'one', '--path', 'data')
    const { code } = await cairn.error('init', '-w', 'two', '--path', 'data')
    expect(code).toBe('mount_failed')
    expect(await cairn.json<Listed>('list')).toMatchObject([{ workspace: 'one', isRunning: true }])
  })

  it('init with a token mounts what is there, by the name that stands beside the token', async () => {
    await server.cairn.workspaces.create('scoped')
    const { secret } = await server.cairn.workspace('scoped').tokens.issue('agent', {
      ttlMs: 600_000,
      allow: [{ path: '/', operations: ['read', 'list', 'write'] }],
    })
    writeCredentials(secret, { workspace: 'scoped' })
    try {
      const [mounted] = await cairn.json<Listed>('init', '--path', 'data')
      expect(mounted).toMatchObject({ workspace: 'scoped', mountPoint: place('data') })
    } finally {
      writeCredentials(server.apiKey)
    }
  })

  it('login finds out which workspace a token is for', async () => {
    const { secret } = await server.cairn.workspace('scoped').tokens.issue('reader', {
      ttlMs: 600_000,
      allow: [{ path: '/', operations: ['read', 'list'] }],
    })
    const ran = await cairn.run(['login', '--token', '-', '--json'], { stdin: secret })
    expect(JSON.parse(ran.stdout.toString())).toEqual({ server: server.url, workspace: 'scoped' })
    await cairn.text('logout')
    writeCredentials(server.apiKey)
  })

  it.each([
    [['--path', 'data'], '--workspace is missing'],
    [['-w', 'w'], '--path is missing'],
    [['-w', 'a', '--table', 'b', '--path', 'data'], '--workspace and --table mean the same'],
  ])('%j: %s', async (args, message) => {
    const ran = await cairn.run(['init', ...args])
    expect({ code: ran.code, told: ran.stderr.includes(message) }).toEqual({ code: 2, told: true })
  })
})
