import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve, type Serving } from '@cairn/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** The largest file. A list of its 16 million holes of 1 MiB would not fit into memory. */
const largest = 2 ** 44

let data: string
let serving: Serving

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'cairn-sparse-'))
  serving = await serve({ data, listen: '127.0.0.1:0' })
  await ask('POST', '', { body: JSON.stringify({ name: 'w' }) })
  await ask('PUT', '/w/files/f', { body: 'first' })
  await writeAt('f', largest - 1)
})

afterAll(async () => {
  await serving?.close()
  await rm(data, { recursive: true })
})

interface Init {
  readonly body?: string
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

function ask(method: string, path: string, init: Init = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${serving.ownerKey}`, ...init.headers }
  return fetch(`${serving.url}/v1/workspaces${path}`, { ...init, method, headers })
}

function writeAt(name: string, offset: number): Promise<Response> {
  const headers = { 'content-range': `bytes ${offset}-${offset}/*` }
  return ask('PATCH', `/w/files/${name}`, { body: 'x', headers })
}

const folded = (): Promise<Response> => ask('POST', '/w/layers/main/checkpoints', { body: '{}' })

describe('a file of one byte behind a hole of 16 TiB', () => {
  it('a file of one byte behind a hole of 16 TiB is sent piece by piece, before and after it is folded', async () => {
    for (const round of ['written', 'folded']) {
      const controller = new AbortController()
      const answer = await ask('GET', '/w/files/f', { signal: controller.signal })
      expect(answer.headers.get('content-length'), round).toBe(String(largest))
      const reader = answer.body!.getReader()
      const { value } = await reader.read()
      expect(Buffer.from(value!.subarray(0, 8)).toString()).toBe('first\0\0\0')
      await reader.cancel()
      controller.abort()
      expect((await ask('GET', '/w')).status).toBe(200)
      expect((await folded()).status).toBe(201)
    }
  })

  it('a range near its end is read without the hole', async () => {
    const headers = { range: `bytes=${largest - 3}-` }
    const answer = await ask('GET', '/w/files/f', { headers })
    expect(Buffer.from(await answer.arrayBuffer()).toString()).toBe('\0\0x')
  })

  it('a file of one byte behind a hole of 16 TiB is copied, compared, blamed and committed', async () => {
    const made = await ask('POST', '/w/layers', { body: JSON.stringify({ name: 'l' }) })
    expect(made.status).toBe(201)
    const body = JSON.stringify({ to: '/copy' })
    expect((await ask('POST', '/w/files/f?copy&layer=l', { body })).status).toBe(200)
    const reads = ['/w/layers/l/diff', '/w/layers/l/diff?patch', '/w/layers/l/diff?stat']
    for (const path of [...reads, '/w/blame?path=/f', '/w/files/f?history'])
      expect([path, (await ask('GET', path)).status]).toEqual([path, 200])
    expect((await ask('POST', '/w/layers/l/commit', { body: '{}' })).status).toBe(200)
    const stat = await ask('HEAD', '/w/files/copy')
    expect(stat.headers.get('content-length')).toBe(String(largest))
  })

  it('a file of one byte behind a hole of 16 TiB does not grow by one more byte', async () => {
    const answer = await writeAt('f', largest)
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ error: { errno: 'EFBIG' } })
  })
})
