import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

interface HostOptions {
  /** Only those who know it are answered. */
  readonly password?: string
}

/** What becomes of a request for objects. */
export type Fate = 'answered' | 'refused' | 'unanswered'

/** Git's own server, over HTTP. */
export class GitHost {
  /** Decides about each request for objects, the first of which is 1. */
  fate: (request: number) => Fate = () => 'answered'
  readonly #server: Server
  readonly #root: string
  readonly #wanted: string | undefined
  #requests = 0

  private constructor(root: string, { password }: HostOptions) {
    this.#root = root
    const secret = `x-access-token:${password}`
    this.#wanted =
      password === undefined ? undefined : `Basic ${Buffer.from(secret).toString('base64')}`
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  /** With the directory that the repositories are in. */
  static async open(root: string, options: HostOptions = {}): Promise<GitHost> {
    const host = new GitHost(root, options)
    host.#server.listen(0, '127.0.0.1')
    await once(host.#server, 'listening')
    return host
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** How many requests for objects there were. */
  get requests(): number {
    return this.#requests
  }

  /** Ends what waits for an answer. */
  cut(): void {
    this.#server.closeAllConnections()
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.#wanted !== undefined && request.headers.authorization !== this.#wanted)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end()
    const fate = request.method === 'POST' ? this.fate(++this.#requests) : 'answered'
    if (fate === 'refused') return void response.writeHead(503).end()
    if (fate === 'answered') runBackend(this.#root, request, response)
  }
}

function runBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const backend = join(
    execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(),
    'git-http-backend',
  )
  const [path = '', query = ''] = request.url!.split('?')
  const { 'content-type': type = '', 'content-encoding': encoding } = request.headers
  const child = spawn(backend, {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: type,
      ...(encoding === 'gzip' && { HTTP_CONTENT_ENCODING: 'gzip' }),
    },
  })
  request.pipe(child.stdin)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.on('close', () => {
    const output = Buffer.concat(chunks)
    const end = output.indexOf('\r\n\r\n')
    const answered = /^content-type: (.*)$/im.exec(output.toString('latin1', 0, end))?.[1]?.trim()
    response
      .writeHead(200, { 'content-type': answered ?? 'text/plain' })
      .end(output.subarray(end + 4))
  })
}
