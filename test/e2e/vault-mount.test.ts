import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { startServer, type TestServer } from './start-server.ts'

const hasFuse = existsSync('/dev/fuse') && process.getuid?.() === 0
const run = promisify(execFile)

describe.skipIf(!hasFuse)('cairn mount vault (needs root and /dev/fuse)', () => {
  const cairn = useCairn()
  let server: TestServer
  let directory: string

  beforeAll(async () => {
    server = await startServer()
    const { vault } = (await server.cairn.workspaces.create('w')) && server.cairn.workspace('w')
    await vault.set('prod-db', { DB_URL: 'postgres://one', DB_KEY: new Uint8Array([0, 255, 10]) })
    await vault.set('other', { X: 'x' })
    directory = join(cairn.home(), 'n')
  })

  afterAll(async () => {
    await run('umount', ['-l', directory]).catch(() => undefined)
    await server?.stop()
  })

  it('shows what the grant allows, as it is now, and what was opened as it was', async () => {
    const { vault } = server.cairn.workspace('w')
    const { token, id } = await vault.grant([{ secret: 'prod-db' }], {
      agent: 'alice',
      ttlMs: 600_000,
    })
    const env = { CAIRN_VAULT_TOKEN: token, CAIRN_SERVER: server.url, CAIRN_WORKSPACE: 'w' }
    const mounted = await cairn.run(['mount', 'vault', directory], { env })
    expect([mounted.code, mounted.stderr]).toEqual([0, ''])
    expect(await readdir(directory)).toEqual(['prod-db'])
    expect(await readdir(join(directory, 'prod-db'))).toEqual(['DB_KEY', 'DB_URL'])
    const file = join(directory, 'prod-db', 'DB_URL')
    expect((await stat(file)).mode & 0o777).toBe(0o400)
    expect(await readFile(file, 'utf8')).toBe('postgres://one')
    expect([...(await readFile(join(directory, 'prod-db', 'DB_KEY')))]).toEqual([0, 255, 10])
    const held = await open(file)
    await vault.set('prod-db', { DB_URL: 'two' })
    expect(await readFile(file, 'utf8')).toBe('two')
    expect((await held.readFile()).toString()).toBe('postgres://one')
    await held.close()
    await expect(writeFile(file, 'x')).rejects.toMatchObject({ code: 'EROFS' })
    await expect(stat(join(directory, 'other'))).rejects.toMatchObject({ code: 'ENOENT' })
    await vault.revoke(id)
    await expect(readFile(file)).rejects.toMatchObject({ code: 'EACCES' })
    const ended = await cairn.run(['umount', directory])
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    expect(await readdir(directory)).toEqual([])
  })

  it('its daemon is killed when the server shows it nothing any more: the next one answers so', async () => {
    const { vault } = server.cairn.workspace('w')
    const { token, id } = await vault.grant([{ secret: 'prod-db' }], {
      agent: 'bob',
      ttlMs: 600_000,
    })
    const env = { CAIRN_VAULT_TOKEN: token, CAIRN_SERVER: server.url, CAIRN_WORKSPACE: 'w' }
    expect((await cairn.run(['mount', 'vault', directory], { env })).code).toBe(0)
    const [mount] = await cairn.json<{ daemon: { pid: number } }>('mount', 'ls')
    await vault.revoke(id)
    process.kill(mount!.daemon.pid, 'SIGKILL')
    const file = join(directory, 'prod-db', 'DB_URL')
    await expect(readFile(file)).rejects.toMatchObject({ code: 'EACCES' })
    const ended = await cairn.run(['umount', directory])
    expect([ended.code, ended.stderr]).toEqual([0, ''])
  })

  it('a token that opens nothing is refused, and leaves nothing behind', async () => {
    const env = {
      CAIRN_VAULT_TOKEN: 'cairn_v1.x.y',
      CAIRN_SERVER: server.url,
      CAIRN_WORKSPACE: 'w',
    }
    const place = join(cairn.home(), 'refused')
    const { code, stderr } = await cairn.run(['mount', 'vault', place], { env })
    expect(code).toBe(1)
    expect(stderr).toContain('cannot mount on')
    expect(existsSync(place)).toBe(false)
  })
})
