// A bundle comes from anywhere. What its head says is nothing that this server made.
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../e2e/start-server.ts'

const magic = Buffer.from('cairn bundle 1\n')
type Payload = readonly [type: number, payload: Buffer]

/** The records of a bundle. */
function recordsOf(bundle: Buffer): Payload[] {
  const records: Payload[] = []
  for (let at = magic.length; at < bundle.length;) {
    const type = bundle[at++]!
    let [length, scale] = [0, 1]
    for (let more = true; more; scale *= 128) {
      more = bundle[at]! >= 0x80
      length += (bundle[at++]! & 0x7f) * scale
    }
    records.push([type, bundle.subarray(at, at + length)])
    at += length + 32
  }
  return records
}

/** A bundle of these records, with hashes as they have to be. */
function bundleOf(records: readonly Payload[]): Buffer {
  const sha = (...parts: Buffer[]): Buffer =>
    createHash('sha256').update(Buffer.concat(parts)).digest()
  const parts: Buffer[] = [magic]
  let hash = sha(magic)
  for (const [type, payload] of records) {
    const front = [type]
    let rest = payload.length
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) front.push((rest % 128) | 0x80)
    hash = sha(hash, Buffer.from([...front, rest]), payload)
    parts.push(Buffer.from([...front, rest]), payload, hash)
  }
  return Buffer.concat(parts)
}

describe('a forged bundle', () => {
  let server: TestServer
  let outside: string
  let bundle: Buffer
  let id: string

  const ask = (method: string, path: string, body?: Buffer | string): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${server.apiKey}` },
      ...(body === undefined ? {} : { body }),
    })
  const offer = async (forged: Buffer, name = 'forged'): Promise<string> => {
    const answer = await ask('POST', `/v1/bundles?name=${name}`, forged)
    const { error } = (await answer.json()) as { error?: { code: string } }
    return `${answer.status} ${error?.code ?? ''}`
  }
  const forgeHead = (edit: (head: string) => string): Buffer =>
    bundleOf(
      recordsOf(bundle).map(([type, payload]) =>
        type === 0 ? [type, Buffer.from(edit(payload.toString()))] : [type, payload],
      ),
    )
  const names = async (): Promise<readonly string[]> => {
    const { items } = (await (await ask('GET', '/v1/workspaces')).json()) as {
      items: { name: string }[]
    }
    return items.map((item) => item.name)
  }

  beforeAll(async () => {
    server = await startServer()
    outside = mkdtempSync(join(tmpdir(), 'cairn-outside-'))
    await ask('POST', '/v1/workspaces', '{"name":"w"}')
    await ask('POST', '/v1/workspaces', '{"name":"empty"}')
    const made = await ask(
      'POST',
      '/v1/workspaces/empty/layers/main/checkpoints',
      '{"label":"one"}',
    )
    expect(made.status).toBe(201)
    bundle = Buffer.from(await (await ask('GET', '/v1/workspaces/empty/bundle')).arrayBuffer())
    id = ((await (await ask('GET', '/v1/workspaces/empty')).json()) as { id: string }).id
    // A server takes each workspace once.
    await ask('DELETE', '/v1/workspaces/empty')
  }, 60_000)
  afterAll(async () => {
    await server.stop()
    rmSync(outside, { recursive: true })
  })

  it('a forged bundle whose workspace has an id that is a path: refused, and no file is made there', async () => {
    const path = `${'../'.repeat(12)}${outside.slice(1)}/evil`
    expect(await offer(forgeHead((head) => head.replaceAll(id, path)))).toBe('400 malformed')
    await ask('GET', '/git/forged/info/refs?service=git-upload-pack')
    expect(readdirSync(outside)).toEqual([])
    expect(existsSync(`${outside}/evil.git`)).toBe(false)
  })

  const other = 'ws_00000000-0000-4000-8000-000000000000'
  it.each<readonly [title: string, edit: (head: string) => string]>([
    ['a name that no workspace has', (head) => head.replace('"name":"empty"', '"name":"../../x"')],
    ['a name that is no text', (head) => head.replace('"name":"empty"', '"name":{"a":1}')],
    ['inode numbers that are given again', (head) => head.replace(/"nextIno":\d+/, '"nextIno":-5')],
    [
      'a checkpoint of another workspace',
      (head) => head.replace(/("checkpoint(?:s":\[)?[^[]*?"branch":")[^"]*/, `$1${other}/main`),
    ],
    [
      'a label of another workspace',
      (head) => head.replace(/("label(?:s":\[)?[^[]*?"workspace":")[^"]*/, `$1${other}`),
    ],
    ['a version that is text', (head) => head.replace(/"version":\d+/, '"version":"x"')],
    ['a state that there is not', (head) => head.replace('"state":"open"', '"state":"__proto__"')],
    ['a hash that is none', (head) => head.replace(/"orphans":"/, '"orphans":"x')],
    ['JSON without an end', (head) => '['.repeat(1e6) + head],
  ])('with %s: refused', async (_title, edit) => {
    const forged = forgeHead(edit)
    expect(forged.equals(bundle)).toBe(false)
    // Other ids, because the server had this workspace.
    const mine = `ws_${createHash('md5').update(_title).digest('hex')}`
    const fresh = bundleOf(
      recordsOf(forged).map(([type, payload]) =>
        type === 0 ? [type, Buffer.from(payload.toString().replaceAll(id, mine))] : [type, payload],
      ),
    )
    expect(await offer(fresh)).toBe('400 malformed')
    expect(await names()).toEqual(['w'])
  })

  it('a forged bundle with the log of a branch that its head does not name: refused', async () => {
    await ask('PUT', '/v1/workspaces/w/files/a', 'mine')
    const whole = Buffer.from(await (await ask('GET', '/v1/workspaces/w/bundle')).arrayBuffer())
    const rows = recordsOf(whole).filter(([type]) => type === 1)
    expect(rows.length).toBeGreaterThan(0)
    const mine = `ws_${'1'.repeat(32)}`
    const [, ...rest] = recordsOf(bundle)
    const head = Buffer.from(recordsOf(bundle)[0]![1].toString().replaceAll(id, mine))
    expect(await offer(bundleOf([[0, head], ...rows, ...rest]))).toBe('400 malformed')
  })

  it('a forged bundle with a journal of brackets: refused', async () => {
    const mine = `ws_${'3'.repeat(32)}`
    const [, ...rest] = recordsOf(bundle)
    const head = Buffer.from(recordsOf(bundle)[0]![1].toString().replaceAll(id, mine))
    const line = Buffer.from(`{"header":${'['.repeat(1e6)}${']'.repeat(1e6)}}\n`)
    expect(await offer(bundleOf([[0, head], [5, line], ...rest]))).toBe('400 malformed')
  })

  it('as it was, under an id that this server has not had: taken', async () => {
    const mine = `ws_${'2'.repeat(32)}`
    const forged = forgeHead((head) => head.replaceAll(id, mine))
    expect(await offer(forged, 'again')).toBe('201 ')
  })
})
