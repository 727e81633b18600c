import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiErrorBody } from '@cairn/protocol'
import { serve, type Serving } from '@cairn/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendRaw } from './raw-http.ts'

/** Each limit of docs/reference/http.md, met by a request that is just above it. */

let data: string
let serving: Serving
let port: number

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'cairn-limits-'))
  const pace = { bytesMin: 1024, patienceMs: 100 }
  serving = await serve({ data, listen: '127.0.0.1:0', pace })
  port = Number(new URL(serving.url).port)
  await ask('POST', '', JSON.stringify({ name: 'w' }))
})

afterAll(async () => {
  await serving?.close()
  await rm(data, { recursive: true })
})

type Answer = readonly [status: number, code: string, message: string]

async function ask(
  method: string,
  path: string,
  body?: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(`${serving.url}/v1/workspaces${path}`, {
    method,
    headers: { authorization: `Bearer ${serving.ownerKey}`, ...headers },
    ...(body === undefined ? {} : { body }),
  })
  return answered(answer.status, await answer.text())
}

function answered(status: number, text: string): Answer {
  const { error } = JSON.parse(text) as Partial<ApiErrorBody>
  return [status, error?.code ?? '', error?.message ?? '']
}

/** Sends the head of a request alone, or a part of its body. */
async function askRaw(lines: readonly string[], body = ''): Promise<Answer> {
  const head = [...lines, 'Host: localhost', `Authorization: Bearer ${serving.ownerKey}`]
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  const answer = await sendRaw(port, { parts: [bytes], end: 'wait' })
  return answered(answer?.status ?? 0, answer?.body.toString() ?? '{}')
}

describe('what is above a limit is refused by a 4xx that names it', () => {
  it('a JSON body', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(8 << 20) })
    const [status, code, message] = await ask('POST', '', body)
    expect([status, code]).toEqual([413, 'too_large'])
    expect(message).toContain(String(8 << 20))
  })

  it('the nesting of a JSON body, and its values', async () => {
    const deep = `{"name":${'['.repeat(100)}${']'.repeat(100)}}`
    const [status, code, message] = await ask('POST', '', deep)
    expect([status, code]).toEqual([400, 'malformed'])
    expect(message).toContain('64 levels')
    const many = `{"name":[${'0,'.repeat(200_001)}0]}`
    const [second, tooLarge, why] = await ask('POST', '', many)
    expect([second, tooLarge]).toEqual([413, 'too_large'])
    expect(why).toContain('200000')
  })

  it('the body of a file, before it is sent', async () => {
    const length = 16 * 2 ** 30
    const line = `Content-Length: ${length + 1}`
    const [status, code, message] = await askRaw(['PUT /v1/workspaces/w/files/a HTTP/1.1', line])
    expect([status, code]).toEqual([413, 'too_large'])
    expect(message).toContain(String(length))
  })

  it('a block of an upload', async () => {
    const created = await fetch(`${serving.url}/v1/workspaces/w/uploads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${serving.ownerKey}` },
    })
    const { id, blockBytes } = (await created.json()) as { id: string; blockBytes: number }
    const block = new Uint8Array(blockBytes + 1)
    const [status, code, message] = await ask('PUT', `/w/uploads/${id}/blocks/0`, block)
    expect([status, code]).toEqual([413, 'too_large'])
    expect(message).toContain(String(blockBytes))
    const [beyond, invalid, why] = await ask('PUT', `/w/uploads/${id}/blocks/65536`, 'x')
    expect([beyond, invalid]).toEqual([400, 'invalid_argument'])
    expect(why).toContain('65535')
  })

  it('the operations of a batch, and its bytes', async () => {
    const operations = Array.from({ length: 1001 }, (_, i) => ({ op: 'mkdir', path: `/d${i}` }))
    const [status, code, message] = await ask('POST', '/w/batch', JSON.stringify({ operations }))
    expect([status, code]).toEqual([400, 'invalid_argument'])
    expect(message).toContain('1 to 1000')
    const large = { operations: [{ op: 'write', path: '/large', text: 'x'.repeat(5 << 20) }] }
    const [second, tooLarge, why] = await ask('POST', '/w/batch', JSON.stringify(large))
    expect([second, tooLarge]).toEqual([413, 'too_large'])
    expect(why).toContain(String(4 << 20))
  })

  it('names, paths and targets', async () => {
    for (const path of ['n'.repeat(256), 'd/'.repeat(2048)]) {
      const [status, code, message] = await ask('PUT', `/w/files/${path}`, 'x')
      expect([status, code]).toEqual([400, 'file_system'])
      expect(message).toMatch(/255 bytes.*4095/)
    }
    const target = JSON.stringify({ target: 't'.repeat(4096) })
    expect((await ask('POST', '/w/files/l?symlink', target))[0]).toBe(400)
  })

  it('the size of a file', async () => {
    const range = { 'content-range': 'bytes 17592186044416-17592186044416/*' }
    await ask('PUT', '/w/files/f', 'x')
    const [status, code, message] = await ask('PATCH', '/w/files/f', 'x', range)
    expect([status, code]).toEqual([413, 'file_system'])
    expect(message).toContain('17592186044416')
  })

  it('headers', async () => {
    const line = `X-Large: ${'h'.repeat(16 * 1024)}`
    const [status, code, message] = await askRaw(['GET /v1/workspaces HTTP/1.1', line])
    expect([status, code]).toEqual([413, 'too_large'])
    expect(message).toContain('16384')
    const key = { 'idempotency-key': 'k'.repeat(129) }
    const [second, invalid, why] = await ask('PUT', '/w/files/k', 'x', key)
    expect([second, invalid]).toEqual([400, 'invalid_argument'])
    expect(why).toContain('1 to 128')
  })

  it('pages', async () => {
    for (const path of ['?limit=1001', '/w/files/?list&limit=1001', '/w/log?limit=1001']) {
      const [status, code, message] = await ask('GET', path)
      expect([path, status, code]).toEqual([path, 400, 'invalid_argument'])
      expect(message).toContain('1000')
    }
  })

  it('a body that is cut off changes nothing, however it ends', async () => {
    await ask('PUT', '/w/files/whole', 'before')
    const head = [
      'PUT /v1/workspaces/w/files/whole HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${serving.ownerKey}`,
      'Content-Length: 1000',
    ]
    const part = Buffer.from(`${head.join('\r\n')}\r\n\r\n${'after'.repeat(100)}`)
    const refused = await sendRaw(port, { parts: [part], end: 'half-close' })
    expect([refused?.status, answered(0, refused!.body.toString())[1]]).toEqual([400, 'malformed'])
    expect(await sendRaw(port, { parts: [part], end: 'reset' })).toBe(undefined)
    const file = await fetch(`${serving.url}/v1/workspaces/w/files/whole`, {
      headers: { authorization: `Bearer ${serving.ownerKey}` },
    })
    expect(await file.text()).toBe('before')
  })

  it('the patience with a body that stops coming', async () => {
    for (const path of ['w/files/slow', 'w/files/d?mkdir']) {
      const method = path.includes('?') ? 'POST' : 'PUT'
      const lines = [`${method} /v1/workspaces/${path} HTTP/1.1`, 'Content-Length: 100']
      const [status, code] = await askRaw(lines, '{"par')
      expect([path, status, code]).toEqual([path, 408, 'too_slow'])
    }
    expect((await ask('GET', '/w/files/slow'))[0]).toBe(404)
  })
})
