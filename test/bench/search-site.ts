import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Running } from './running-server.ts'

export interface Search {
  readonly pattern: string
  readonly options?: Readonly<Record<string, string>>
}

/** A server with a tree of source text. */
export class Site {
  readonly server: Running

  constructor(server: Running) {
    this.server = server
  }

  async seed(tree: string): Promise<void> {
    await this.call('POST', '/v1/workspaces', JSON.stringify({ name: 'w' }))
    const seed = join(tree, 'packages/p0/src/session.ts')
    execFileSync('tee', [seed], { input: 'throw new TokenExpiredOnce()\n', stdio: 'pipe' })
    const archive = execFileSync('tar', ['c', '-C', tree, '.'], { maxBuffer: 4 * 2 ** 30 })
    await this.call('POST', '/v1/workspaces/w/files/?import', archive)
  }

  /** Resolves when every file is indexed. */
  async indexed(files: number): Promise<{ readonly bytes: number }> {
    for (;;) {
      const text = await this.call('GET', '/v1/server/status')
      const { contents, bytes, waiting } = JSON.parse(text).search
      if (contents >= files && waiting === 0) return { bytes }
      await setTimeout(50)
    }
  }

  /** Gives how many lines were found. */
  async grep({ pattern, options }: Search): Promise<number> {
    const query = new URLSearchParams({ pattern, ...options, timeMs: '60000' })
    const text = await this.call('GET', `/v1/workspaces/w/grep?${query.toString()}`)
    return text.split('\n').filter((line) => line.startsWith('{"type":"match"')).length
  }

  async call(method: string, path: string, body?: string | Buffer): Promise<string> {
    const { url, key } = this.server
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text
  }
}

export async function timed<T>(work: () => T | Promise<T>): Promise<{ result: T; ms: number }> {
  const begin = performance.now()
  const result = await work()
  return { result, ms: performance.now() - begin }
}
