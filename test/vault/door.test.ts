import { readdir, readFile, rm } from 'node:fs/promises'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { Cairn, type VaultAuditEntry } from '@cairn/sdk'
import { serve, type Serving } from '@cairn/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>
}

const plain = randomBytes(24).toString('hex')
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('the vault of a running server', () => {
  let data: string
  let serving: Serving
  let owner: Cairn
  const log: string[] = []

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'cairn-vault-'))
    const write = (line: string): void => void log.push(line)
    serving = await serve({ data, listen: '127.0.0.1:0', log: { write } })
    owner = new Cairn({ server: serving.url, apiKey: serving.ownerKey! })
    await owner.workspaces.create('w')
    await owner.workspaces.create('other')
    await owner
      .workspace('w')
      .vault.set('db', { URL: `postgres://${plain}`, BYTES: new Uint8Array([0, 255]) })
  })

  afterAll(async () => {
    await serving?.close()
    await rm(data, { recursive: true })
  })

  const grant = async (ttlMs = 60_000): Promise<{ id: string; token: string }> =>
    owner.workspace('w').vault.grant([{ secret: 'db' }], { agent: 'alice', ttlMs })
  const as = (token: string): Cairn =>
    new Cairn({ server: serving.url, apiKey: token, toolCall: 'call-7' })

  it('gives back the bytes that were put in, text or not', async () => {
    const { fields } = await owner.workspace('w').vault.read('db')
    expect(new Map(fields)).toEqual(
      new Map([
        ['BYTES', new Uint8Array([0, 255])],
        ['URL', encode(`postgres://${plain}`)],
      ]),
    )
    expect(await owner.workspace('w').vault.readField('db', 'BYTES')).toEqual(
      new Uint8Array([0, 255]),
    )
  })

  it('a grant reads its secret and nothing else, through whichever route', async () => {
    const { token, id } = await grant()
    const alice = as(token)
    expect((await alice.workspace('w').vault.readField('db', 'URL')).length).toBeGreaterThan(0)
    await expect(alice.workspace('other').vault.read('db')).rejects.toMatchObject({
      code: 'workspace_missing',
    })
    const { paths } = (await (await fetch(`${serving.url}/v1/openapi.json`)).json()) as OpenApi
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const open = ['/healthz', '/readyz', '/install', '/install/{file}', '/v1/openapi.json']
    const taking: string[] = []
    for (const [path, methods] of Object.entries(paths))
      for (const method of Object.keys(methods)) {
        if (open.includes(path)) continue
        const url = `${serving.url}${path.replace('{workspace}', 'w').replaceAll(/\{\w+\}/g, 'x')}`
        const { status } = await fetch(url, { method: method.toUpperCase(), headers })
        if (status !== 403) taking.push(`${method} ${path}`)
      }
    expect(taking.filter((route) => !route.includes('/vault/secrets'))).toEqual([])
    expect((await fetch(`${serving.url}/v1/nowhere`, { headers })).status).toBe(403)
    const noted: VaultAuditEntry[] = []
    for await (const entry of owner.workspace('w').vault.audit({ actor: id })) noted.push(entry)
    expect(noted.find(({ outcome }) => outcome === 'ok')).toMatchObject({
      agent: 'alice',
      secret: 'db',
      field: 'URL',
      outcome: 'ok',
      toolCall: 'call-7',
    })
    expect(noted.filter(({ outcome }) => outcome === 'denied').length).toBeGreaterThan(30)
  })

  it('revocation and expiry are felt by the next request', async () => {
    const { token, id } = await grant()
    await as(token).workspace('w').vault.read('db')
    await owner.workspace('w').vault.revoke(id)
    await expect(as(token).workspace('w').vault.read('db')).rejects.toMatchObject({
      code: 'unauthenticated',
    })
    const brief = await grant(1)
    await expect(as(brief.token).workspace('w').vault.read('db')).rejects.toMatchObject({
      code: 'unauthenticated',
    })
  })

  it('under load: no request that begins after the revocation was answered reads anything', async () => {
    const { token, id } = await grant()
    const { vault } = as(token).workspace('w')
    let isRevoked = false
    const work = async (): Promise<{ before: number; after: number }> => {
      const read = { before: 0, after: 0 }
      for (;;) {
        const when = isRevoked ? 'after' : 'before'
        const isRead = await vault.readField('db', 'URL').then(
          () => true,
          () => false,
        )
        if (isRead) read[when]++
        if (when === 'after') return read
      }
    }
    const workers = Array.from({ length: 8 }, work)
    await owner.workspace('w').vault.readField('db', 'URL')
    await owner.workspace('w').vault.revoke(id)
    isRevoked = true
    const reads = await Promise.all(workers)
    expect(reads.reduce((sum, { before }) => sum + before, 0)).toBeGreaterThan(0)
    expect(reads.map(({ after }) => after)).toEqual(reads.map(() => 0))
  })

  it('a rotation goes on beside readers', async () => {
    const readers = Array.from({ length: 20 }, () => owner.workspace('w').vault.read('db'))
    const { left, rewrapped } = await owner.rotateMasterKey()
    expect({ left, rewrapped }).toEqual({ left: 0, rewrapped: 1 })
    for (const { version } of await Promise.all(readers)) expect(version).toBe(1)
  })

  it('no value and no token is on disk or in the log, in any spelling', async () => {
    const { token } = await grant()
    await as(token).workspace('w').vault.read('db')
    await owner.workspace('w').vault.put('gone', { X: plain })
    await owner.workspace('w').vault.delete('gone')
    const secret = token.split('.')[2]!
    const files = await readdir(data, { recursive: true, withFileTypes: true })
    const texts = [log.join('')]
    for (const file of files.filter((each) => each.isFile()))
      texts.push(await readFile(join(file.parentPath, file.name), 'latin1'))
    const spellings = [plain, Buffer.from(plain).toString('base64').slice(4, -4), secret]
    for (const text of texts)
      for (const spelling of spellings) expect(text.includes(spelling)).toBe(false)
    expect(log.length).toBeGreaterThan(5)
  })
})
