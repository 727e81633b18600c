// deploy/nginx.conf in front of a server, with the addresses changed and nothing else.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useCairn } from './run-cairn.ts'

const conf = fileURLToPath(new URL('../../deploy/nginx.conf', import.meta.url))
const noTools = ['nginx', 'openssl'].some((tool) => spawnSync(tool, ['-v']).error !== undefined)

describe.skipIf(noTools)('nginx before a server (needs nginx and openssl)', () => {
  const cairn = useCairn()

  /** Gives what asks it over TLS. It listens on a socket, so no port can be taken. */
  async function startNginx(upstream: string): Promise<(options: RequestOptions) => Ask> {
    const home = cairn.home()
    const [socketPath, cert, key] = ['nginx.sock', 'cert.pem', 'key.pem'].map((name) =>
      join(home, name),
    ) as [string, string, string]
    const ec = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost'
    const words = ['req', '-x509', ...ec.split(' '), '-keyout', key, '-out', cert]
    execFileSync('openssl', words, { stdio: 'ignore' })
    const site = readFileSync(conf, 'utf8')
      .replace('10.0.0.1:7070', new URL(upstream).host)
      .replace('server 10.0.0.2:7070;', '')
      .replace('listen 443', `listen unix:${socketPath}`)
      .replace('cairn.example.org', 'localhost')
      .replaceAll('/etc/ssl/cairn', home)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${home}/nginx-${name};`)
      .join(' ')
    writeFileSync(join(home, 'site.conf'), site)
    writeFileSync(
      join(home, 'nginx.conf'),
      `daemon off; pid ${home}/nginx.pid; events {} http { access_log off; ${temporary} include site.conf; }`,
    )
    const start = ['-p', home, '-c', join(home, 'nginx.conf'), '-e', join(home, 'nginx.log')]
    const nginx = spawn('nginx', start, { stdio: 'ignore' })
    onTestFinished(async () => {
      nginx.kill()
      await once(nginx, 'exit')
    })
    await expect.poll(() => existsSync(socketPath)).toBe(true)
    return (options) => ask({ ...options, socketPath, ca: readFileSync(cert) })
  }

  it('passes large bodies, sessions, and what /install asks of TLS', async () => {
    const serve = ['serve', '--background', '--listen', '127.0.0.1:0']
    const [{ url } = { url: '' }] = await cairn.json<{ url: string }>(...serve)
    onTestFinished(async () => {
      await cairn.run(['down', '--force'])
    })
    const through = await startNginx(url)
    const owner = readFileSync(join(cairn.home(), '.cairn/data/owner-key'), 'utf8').trim()
    const headers = { host: 'localhost', authorization: `Bearer ${owner}` }
    const body = Buffer.alloc(3 << 20, 'x')
    const path = '/v1/workspaces/default/files/large'
    expect(await through({ method: 'PUT', path, headers }).send(body)).toMatchObject({
      statusCode: 201,
    })
    expect(await text(await through({ path, headers }).send())).toBe(body.toString())
    const install = await text(await through({ path: '/install', headers }).send())
    expect(install).toContain('https://localhost')
    const upgraded = through({
      path: '/v1/sessions',
      headers: {
        ...headers,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      },
    })
    expect(await upgraded.upgrade()).toBe(101)
  })
})

interface Ask {
  send(body?: Uint8Array): Promise<IncomingMessage>
  upgrade(): Promise<number | undefined>
}

function ask(options: RequestOptions & { readonly ca: Uint8Array }): Ask {
  const sent = request({ servername: 'localhost', ...options, ca: Buffer.from(options.ca) })
  return {
    send: async (body) => {
      sent.end(body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return response
    },
    upgrade: async () => {
      sent.end()
      const [response, socket] = (await once(sent, 'upgrade')) as [
        IncomingMessage,
        { destroy(): void },
      ]
      socket.destroy()
      return response.statusCode
    },
  }
}
