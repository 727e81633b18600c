import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve, type Serving } from '@cairn/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendRaw } from '../faults/raw-http.ts'

describe('a web page in a browser on the machine of a server', () => {
  let data: string
  let serving: Serving
  let port: number

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'cairn-loopback-'))
    const allowHosts = ['tunnel.example']
    const metricsListen = '127.0.0.1:0'
    serving = await serve({ data, listen: '127.0.0.1:0', allowHosts, metricsListen })
    port = Number(new URL(serving.url).port)
  })

  afterAll(async () => {
    await serving?.close()
    await rm(data, { recursive: true })
  })

  async function status(...headers: string[]): Promise<number | undefined> {
    const lines = ['GET /v1/workspaces HTTP/1.1', ...headers]
    const head = [...lines, `Authorization: Bearer ${serving.ownerKey}`, 'Connection: close']
    const answer = await sendRaw(port, {
      parts: [Buffer.from(`${head.join('\r\n')}\r\n\r\n`)],
      end: 'wait',
    })
    return answer?.status
  }

  it('a web page in a browser on the machine of a server is refused by a name that it had resolve to 127.0.0.1', async () => {
    expect(await status('Host: evil.example')).toBe(403)
    expect(await status(`Host: evil.example:${port}`)).toBe(403)
    expect(await status(`Host: 127.0.0.1:${port}`)).toBe(200)
    expect(await status('Host: tunnel.example')).toBe(200)
  })

  it('a request from another origin is refused', async () => {
    expect(await status('Host: localhost', 'Origin: http://evil.example')).toBe(403)
    expect(await status('Host: localhost', 'Origin: null')).toBe(403)
    expect(await status('Host: localhost', 'Origin: http://localhost:3000')).toBe(200)
  })

  it('reads no metrics without a key, but at their own address', async () => {
    expect((await fetch(`${serving.url}/metrics`)).status).toBe(401)
    const answer = await fetch(serving.metricsUrl!)
    expect(await answer.text()).toContain('cairn_http_request_seconds')
    expect((await fetch(new URL('/v1/workspaces', serving.metricsUrl))).status).toBe(404)
  })

  it('opens no session', async () => {
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const from = ['Host: localhost', 'Origin: http://evil.example']
    const lines = [
      'GET /v1/sessions HTTP/1.1',
      ...from,
      ...upgrade,
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ]
    const head = [...lines, `Authorization: Bearer ${serving.ownerKey}`]
    const parts = [Buffer.from(`${head.join('\r\n')}\r\n\r\n`)]
    expect((await sendRaw(port, { parts, end: 'wait' }))?.status).toBe(403)
  })
})

it('listening beyond loopback without TLS is warned of, with the fix', async () => {
  const data = await mkdtemp(join(tmpdir(), 'cairn-loopback-'))
  const warnings: string[] = []
  const warn = (text: string): void => void warnings.push(text)
  const serving = await serve({ data, listen: '0.0.0.0:0', warn })
  await serving.close()
  await rm(data, { recursive: true })
  expect(warnings).toEqual([expect.stringMatching(/0\.0\.0\.0:0 without TLS.*--tls-cert/)])
})
