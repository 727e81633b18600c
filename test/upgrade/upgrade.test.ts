// A data directory of version 0.1.0, opened by this one. write-0.1.0.sh made it, and killed the server.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Cairn, type Workspace } from '@cairn/sdk'
import { checkStores, openStorage, serve, type Serving } from '@cairn/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const fixture = fileURLToPath(new URL('data-0.1.0.tar.gz', import.meta.url))
/** Tokens last a year at most. */
const tokenEnds = Date.parse('2027-11-18')

describe('a data directory of version 0.1.0', () => {
  let data = ''
  let serving: Serving
  let cairn: Cairn
  let website: Workspace

  const kept = (name: string): string => readFileSync(join(data, name), 'utf8').trim()
  const start = async (): Promise<void> => {
    serving = await serve({ data, listen: '127.0.0.1:0' })
    cairn = new Cairn({ server: serving.url, apiKey: kept('owner-key') })
    website = cairn.workspace('website')
  }

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'cairn-upgrade-'))
    execFileSync('tar', ['-C', data, '-xzf', fixture])
    await start()
  })
  afterAll(async () => {
    await serving.close()
    rmSync(data, { recursive: true })
  })

  it('keeps its files: kinds, links, modes, times, blocks and holes', async () => {
    const { files } = website
    const { ino, mode, nlink } = await files.stat('/notes/hello.txt')
    expect({ mode, nlink }).toEqual({ mode: '0640', nlink: 2 })
    expect((await files.stat('/notes/hard')).ino).toBe(ino)
    expect((await files.stat('/notes/soft', { follow: false })).target).toBe('hello.txt')
    expect((await files.stat('/notes/fifo')).kind).toBe('fifo')
    expect((await files.stat('/notes/deep/old')).mtimeNs).toBe('1767323045123456789')
    expect(await files.readText('/notes/hello.txt')).toBe('main\n')
    expect(await files.readText('/large')).toBe('x'.repeat(700_000))
    const sum = createHash('sha256')
      .update(await files.read('/random'))
      .digest('hex')
    expect(await files.readText('/random.sha256')).toBe(`${sum}  random\n`)
    expect((await files.stat('/sparse')).size).toBe(5 * 2 ** 30)

    expect(Buffer.from(await files.read('/sparse', { offset: 2_999_999_999, length: 5 }))).toEqual(
      Buffer.from('\0end\0'),
    )
  })

  it('keeps its log', async () => {
    const numbers: number[] = []
    for await (const { seq } of website.log()) numbers.push(seq)
    expect(numbers.length).toBeGreaterThan(5)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  })

  it('keeps secrets, journals and quotas', async () => {
    const secret = await website.vault.readField('prod-db', 'DB_URL')
    expect(new TextDecoder().decode(secret)).toBe('secret\n')
    expect(await website.journals.verifyStored('run-42')).toMatchObject({ entries: 1 })
    expect((await cairn.workspaces.get('limited')).quota).toMatchObject({ maxFiles: 100 })
  })

  it.skipIf(Date.now() > tokenEnds)('takes its tokens', async () => {
    const agent = new Cairn({ server: serving.url, apiKey: kept('agent.token') }).workspace(
      'website',
    )
    const paths: string[] = []
    for await (const { path } of agent.files.list('/')) paths.push(path)
    expect(paths).toEqual(['/notes'])
    await agent.files.write('/notes/agent.txt', 'from the agent')
    await expect(agent.files.stat('/large')).rejects.toMatchObject({ errno: 'ENOENT' })
  })

  it('rolls a layer back to a checkpoint from then, and commits it', async () => {
    expect(await website.layer('open').files.readText('/notes/open.txt')).toBe('later\n')
    await website.layers.rollback('open', { to: 'before' })
    await website.layers.commit('open')
    expect(await website.files.readText('/notes/open.txt')).toBe('open\n')
  })

  it('resolves and commits a layer that was in conflict', async () => {
    expect((await website.layers.status('conflicted')).state).toBe('conflicted')
    await website.layers.resolve('conflicted', '/notes/hard', 'layer')
    await website.layers.commit('conflicted')
    expect(await website.files.readText('/notes/hello.txt')).toBe('layer\n')
  })

  it('a data directory of version 0.1.0 is whole after it was changed, and opens again', async () => {
    await serving.close()
    const storage = await openStorage({ data })
    const { problems } = await checkStores(storage)
    await storage.close()
    expect(problems).toEqual([])
    await start()
    expect(await website.files.readText('/notes/committed.txt')).toBe('committed\n')
  })
})
