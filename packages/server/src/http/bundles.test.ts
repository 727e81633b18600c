import type { FastifyInstance } from 'fastify'
import { beforeEach, describe, expect, it } from 'vitest'
import { verifyBundles } from '../bundle/verify-bundles.ts'
import { memoryDoor, secret } from '../../test/memory-door.ts'

interface Json {
  readonly error: { readonly code: string }
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly id: string
  readonly name: string
  readonly secret: string
}

interface Asked {
  readonly status: number
  readonly raw: Buffer
  readonly json: Json
}

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'
let [here, there]: FastifyInstance[] = []

async function ask(
  app: FastifyInstance | undefined,
  method: Method,
  url: string,
  payload?: string | object,
  key = secret,
): Promise<Asked> {
  const headers = { authorization: `Bearer ${key}` }
  const body = payload === undefined ? {} : { payload }
  const answer = await app!.inject({ method, url: `/v1${url}`, headers, ...body })
  const isJson = String(answer.headers['content-type']).includes('json')
  const json = (isJson ? answer.json() : {}) as Json
  return { status: answer.statusCode, raw: answer.rawPayload, json }
}

const write = (path: string, text: string, query = ''): Promise<Asked> =>
  ask(here, 'PUT', `/workspaces/w/files${path}${query}`, text)
const exported = async (): Promise<Buffer> => (await ask(here, 'GET', '/workspaces/w/bundle')).raw

async function* streamOf(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const bytes of parts)
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}

/** How a bundle begins, up to the end of its head, and its id. */
function endsOf(bundle: Buffer): Buffer {
  const magic = 15
  let [at, length, scale] = [magic + 1, 0, 1]
  for (; ; at++, scale *= 128) {
    length += (bundle[at]! & 0x7f) * scale
    if (bundle[at]! < 0x80) break
  }
  return Buffer.concat([bundle.subarray(0, at + 1 + length + 32), bundle.subarray(-32)])
}

/** All that clients see of a workspace. */
async function shown(app: FastifyInstance | undefined): Promise<unknown> {
  const get = async (url: string): Promise<unknown> => {
    const { status, raw } = await ask(app, 'GET', `/workspaces/w${url}`)
    expect([url, status, status === 200 ? '' : raw.toString()]).toEqual([url, 200, ''])
    return [url, raw.toString('latin1')]
  }
  return Promise.all(
    [
      '/files/?archive=tar',
      '/files/?archive=tar&layer=open',
      '/files/?archive=tar&layer=committed',
      '/files/?archive=tar&at=before',
      '/log?limit=100',
      '/log?limit=100&layer=open',
      '/layers',
      '/layers/open',
      '/layers/open/checkpoints',
      '/layers/main/checkpoints',
      '/layers/open/diff',
    ].map(get),
  )
}

beforeEach(async () => {
  here = memoryDoor()
  there = memoryDoor()
  await ask(here, 'POST', '/workspaces', { name: 'w' })
  await write('/a', 'one')
  await write('/big', 'x'.repeat(700_000))
  await ask(here, 'POST', '/workspaces/w/layers/main/checkpoints', { label: 'before' })
  for (const name of ['open', 'committed'])
    await ask(here, 'POST', '/workspaces/w/layers', { name, path: '/', tags: { of: 'test' } })
  await write('/b', 'in the open layer', '?layer=open')
  await write('/c', 'in the committed layer', '?layer=committed')
  await ask(here, 'POST', '/workspaces/w/layers/committed/commit', { message: 'Commit it' })
})

describe('a bundle', () => {
  it('makes the same workspace: files, layers, checkpoints and the log', async () => {
    const bundle = await exported()
    const { status, json } = await ask(there, 'POST', '/bundles', bundle)
    expect(status).toBe(201)
    expect(json.name).toBe('w')
    expect(await shown(there)).toEqual(await shown(here))
    // It goes on from there.
    const committed = await ask(there, 'POST', '/workspaces/w/layers/open/commit', {})
    expect(committed.status).toBe(200)
    expect((await ask(there, 'GET', '/workspaces/w/files/b')).raw.toString()).toBe(
      'in the open layer',
    )
    const made = await ask(there, 'PUT', '/workspaces/w/files/new', 'x')
    expect(made.status).toBe(201)
  })

  it('a bundle has what a rollback left, so that it can be undone', async () => {
    await ask(here, 'POST', '/workspaces/w/layers/main/rollback', { to: 'before' })
    expect((await ask(here, 'GET', '/workspaces/w/files/c')).status).toBe(404)
    await ask(there, 'POST', '/bundles', await exported())
    await ask(there, 'POST', '/workspaces/w/layers/main/undo', {})
    expect((await ask(there, 'GET', '/workspaces/w/files/c')).status).toBe(200)
  })

  it('a bundle is refused where the workspace is, and changes nothing', async () => {
    const bundle = await exported()
    await write('/a', 'two')
    const before = await shown(here)
    const { status, json } = await ask(here, 'POST', '/bundles?name=copy', bundle)
    expect([status, json.error.code]).toEqual([409, 'workspace_exists'])
    expect(await shown(here)).toEqual(before)
  })

  it('takes an owner’s key, in both directions', async () => {
    const allow = [{ path: '/', operations: ['read', 'list', 'write', 'admin'] }]
    const token = { name: 't', ttlMs: 60_000, allow }
    const { json } = await ask(here, 'POST', '/workspaces/w/tokens', token)
    const bundle = await exported()
    expect((await ask(here, 'GET', '/workspaces/w/bundle', undefined, json.secret)).status).toBe(
      403,
    )
    expect((await ask(here, 'POST', '/bundles', bundle, json.secret)).status).toBe(403)
  })

  it('a bundle that was cut off leaves no workspace, and can be imported again', async () => {
    const bundle = await exported()
    const cut = await ask(there, 'POST', '/bundles', bundle.subarray(0, bundle.length - 40))
    expect([cut.status, cut.json.error.code]).toEqual([400, 'malformed'])
    expect((await ask(there, 'GET', '/workspaces')).json.items).toEqual([])
    expect((await ask(there, 'POST', '/bundles?name=w', bundle)).status).toBe(201)
    expect(await shown(there)).toEqual(await shown(here))
  })

  it('a bundle with its increment makes the newer workspace; the increment alone is refused', async () => {
    const first = await exported()
    await write('/a', 'two')
    await write('/d', 'y'.repeat(300_000), '?layer=open')
    const more = await ask(here, 'POST', '/workspaces/w/bundle', endsOf(first))
    expect(more.status).toBe(200)
    expect(more.raw.length).toBeLessThan(first.length)
    expect((await ask(there, 'POST', '/bundles', more.raw)).json.error.code).toBe('malformed')
    const both = Buffer.concat([first, more.raw])
    expect((await ask(there, 'POST', '/bundles', both)).status).toBe(201)
    expect(await shown(there)).toEqual(await shown(here))
    await expect(verifyBundles(streamOf(first, first))).rejects.toThrow('follows another one')
  })
})

describe('verify', () => {
  it('reads a whole bundle and counts what is in it', async () => {
    const bundle = await exported()
    const { head, ...counts } = await verifyBundles(streamOf(bundle))
    expect(head.workspace.name).toBe('w')
    expect(counts).toMatchObject({ bundles: 1, blobs: 2, bytes: bundle.length })
  })

  it('refuses one that is damaged at any byte, or cut off at any', async () => {
    here = memoryDoor()
    await ask(here, 'POST', '/workspaces', { name: 'w' })
    await write('/a', 'one'.repeat(3000))
    const bundle = await exported()
    const step = Math.max(1, Math.floor(13 / Number(process.env['CAIRN_RUNS'] ?? 1)))
    for (let at = 0; at < bundle.length; at += step) {
      const damaged = Buffer.from(bundle)
      damaged[at]! ^= 1 << (at % 8)
      await expect(verifyBundles(streamOf(damaged)), `byte ${at}`).rejects.toThrow('cannot')
      await expect(verifyBundles(streamOf(bundle.subarray(0, at))), `cut at ${at}`).rejects.toThrow(
        'cannot',
      )
    }
    await expect(verifyBundles(streamOf(bundle, Buffer.from('x')))).rejects.toThrow('no bundle')
  })

  it('refuses records that were left out, even if the rest was hashed anew', async () => {
    const bundle = await exported()
    const { BundleReader, BundleWriter } = await import('../bundle/chain.ts')
    for (const leftOut of ['row', 'node', 'blob'] as const) {
      const reader = new BundleReader(streamOf(bundle))
      await reader.begin()
      const writer = new BundleWriter()
      const parts: Uint8Array[] = [bundle.subarray(0, 15)]
      for (let left = 1, type = ''; type !== 'end';) {
        const record = await reader.next()
        type = record.type
        if (type === leftOut && left-- > 0) continue
        parts.push(...writer.record(record.type, record.payload))
      }
      await expect(verifyBundles(streamOf(...parts)), leftOut).rejects.toThrow('cannot')
    }
  })
})
