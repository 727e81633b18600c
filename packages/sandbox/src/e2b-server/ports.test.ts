import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { request as requestTls } from 'node:https'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Sandbox } from 'e2b'
import { beforeAll, describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'

/** Tells what it was asked, and speaks the first words of a WebSocket. */
const program = `
import base64, hashlib, http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_): pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        self.send(self.path.encode() + b' ' + body)
    def do_GET(self):
        if self.headers.get('Upgrade') == 'websocket':
            key = self.headers['Sec-WebSocket-Key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
            accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
            self.wfile.write(('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n'
                'Sec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n').encode())
            self.wfile.write(bytes([0x81, 5]) + b'hello')
            self.wfile.flush()
            self.rfile.read(1)
            self.close_connection = True
            return
        self.send(self.headers.as_string().encode())
    def send(self, body):
        self.send_response(200)
        self.send_header('X-MiXed', 'kept')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(('127.0.0.1', 8000), Handler).serve_forever()
`

describe.skipIf(!canServe)('ports of a sandbox', () => {
  const test = serveForTests()
  let sandbox: Sandbox

  async function serveIn(options: object = {}): Promise<Sandbox> {
    const made = await test.e2b.Sandbox.create(options)
    await made.files.write('serve.py', program)
    await made.commands.run('python3 serve.py', { background: true, timeoutMs: 0 })
    await made.commands.run('until (: < /dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.02; done')
    return made
  }

  /** As `https://<port>-<id>.<domain>` would arrive. */
  function ask(
    path: string,
    host: string,
    options: object = {},
  ): Promise<[number, string, string[]]> {
    const { port } = new URL(test.server.url)
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, ...options }, (answer) => {
        const { statusCode = 0, rawHeaders } = answer
        text(answer).then((body) => resolve([statusCode, body, rawHeaders]), reject)
      })
      sent.setHeader('Host', host)
      sent.on('error', reject)
      sent.end((options as { body?: string }).body)
    })
  }

  beforeAll(async () => {
    sandbox = await serveIn()
  })

  it('ports of a sandbox are reached by the name of the host, headers as they were spelled', async () => {
    const body = 'x'.repeat(100_000)
    const headers = { 'content-length': body.length }
    const host = sandbox.getHost(8000)
    expect(host).toBe(
      `8000-${sandbox.sandboxId}.sandbox.localhost:${new URL(test.server.url).port}`,
    )
    const answer = await ask('/a?b=c', host, { method: 'POST', headers, body })
    expect(answer.slice(0, 2)).toEqual([200, `/a?b=c ${body}`])
    expect(answer[2]).toContain('X-MiXed')
  })

  it.skipIf(!existsSync('/usr/bin/openssl'))(
    'ports of a sandbox are reached by https:// on the same port, with the authority of this server',
    async () => {
      const host = sandbox.getHost(8000)
      const { hostname, port } = new URL(`https://${host}`)
      const ca = await readFile(test.server.authority!, 'utf8')
      const get = (options: object): Promise<string> =>
        new Promise((resolve, reject) => {
          const to = {
            host: '127.0.0.1',
            servername: hostname,
            port,
            path: '/secure',
            agent: false,
          }
          const sent = requestTls({ ...to, headers: { host }, ...options }, (answer) => {
            text(answer).then(resolve, reject)
          })
          sent.on('error', reject).end()
        })
      await expect(get({ ca })).resolves.toContain(`host: ${host}`)
      await expect(get({})).rejects.toThrow(/certificate/)
      await expect(get({ ca, servername: 'example.org' })).rejects.toThrow(/altnames/)
      expect((await ask('/plain', host))[0]).toBe(200)
    },
  )

  it('ports of a sandbox are reached by the headers of the SDK, which stay outside', async () => {
    const answer = await fetch(`${test.server.url}/`, {
      headers: { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '8000', 'X-Own': 'yes' },
    })
    const seen = (await answer.text()).toLowerCase()
    expect(seen).toContain('x-own: yes')
    expect(seen).not.toContain('e2b-sandbox')
  })

  it('take WebSockets', async () => {
    const { port } = new URL(test.server.url)
    const upgrade = {
      host: sandbox.getHost(8000),
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
    }
    const message = await new Promise<string>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, headers: upgrade })
      sent.on('upgrade', ({ headers }, socket, head) => {
        const first = head.length > 0 ? Promise.resolve(head) : onceData(socket)
        void first.then((bytes) => {
          socket.destroy()
          resolve(`${headers['sec-websocket-accept']} ${bytes.subarray(2).toString()}`)
        })
      })
      sent.on('error', reject).end()
    })
    expect(message).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo= hello')
  })

  it('ports of a sandbox without a listener are 502, with their number', async () => {
    const [status, body] = await ask('/', sandbox.getHost(8001))
    expect(status).toBe(502)
    expect(JSON.parse(body)).toMatchObject({ sandboxId: sandbox.sandboxId, port: 8001, code: 502 })
  })

  it('ports of a sandbox can be kept for those who have the traffic token, and told another host', async () => {
    const network = { allowPublicTraffic: false, maskRequestHost: 'app.internal:${PORT}' }
    const closed = await serveIn({ network })
    const host = closed.getHost(8000)
    expect((await ask('/', host))[0]).toBe(403)
    const token = closed.trafficAccessToken ?? ''
    const headers = { 'e2b-traffic-access-token': token }
    const [status, seen] = await ask('/', host, { headers })
    expect(status).toBe(200)
    expect(seen).toContain('app.internal:8000')
    expect(seen).not.toContain(token)
    await closed.kill()
  })
})

function onceData(socket: Duplex): Promise<Buffer> {
  return new Promise((resolve) => socket.once('data', resolve))
}
