import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

/**
 * Every acknowledgement of the embedded server follows a sync. Killing it inside the n-th one, for many n, kills it
 * before and after each of them in turn; whatever it had answered must be there when it starts again.
 */
const hasStrace = ((): boolean => {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

const child = fileURLToPath(new URL('./server-child.ts', import.meta.url))
/** More than the thread pool's would spread the syncs over threads, and strace counts by thread. */
const filesMax = 60
const env = { ...process.env, UV_THREADPOOL_SIZE: '1' }

interface Running {
  readonly process: ChildProcess
  readonly url: string | undefined
}

async function start(data: string, killAtSync?: number): Promise<Running> {
  const node = [process.execPath, '--conditions=source', child, data]
  const inject = `inject=fsync,fdatasync:signal=KILL:when=${killAtSync}`
  const strace = [
    'strace',
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    inject,
  ]
  const [command, ...args] = killAtSync === undefined ? node : [...strace, ...node]
  const server = spawn(command!, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const line = new Promise<string | undefined>((resolve) => {
    createInterface(server.stdout).once('line', resolve)
    server.once('exit', () => resolve(undefined))
  })
  return { process: server, url: await line }
}

async function stop({ process: server }: Running): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGKILL')
  await once(server, 'exit')
}

describe.skipIf(!hasStrace)('the embedded server, killed inside a sync (needs strace)', () => {
  let data: string
  const running: Running[] = []

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'cairn-crash-'))
  })

  afterEach(async () => {
    for (const each of running.splice(0)) await stop(each)
    await rm(data, { recursive: true })
  })

  const serve = async (killAtSync?: number): Promise<string | undefined> => {
    const server = await start(data, killAtSync)
    running.push(server)
    return server.url
  }

  const ask = async (
    url: string,
    method: string,
    path: string,
    body?: string,
  ): Promise<Response> => {
    const key = (await readFile(join(data, 'owner-key'), 'utf8')).trim()
    const headers = { authorization: `Bearer ${key}` }
    return fetch(`${url}/v1/workspaces${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
  }

  /** Writes until the server dies; gives what it answered for. */
  const writeUntilDeath = async (url: string): Promise<Map<string, string>> => {
    const answered = new Map<string, string>()
    try {
      await ask(url, 'POST', '', '{"name":"w"}')
      for (let i = 0; i < filesMax; i++) {
        // Every third is large enough to become an object of its own.
        const text = `${i} `.repeat(i % 3 === 2 ? 40_000 : 10)
        if ((await ask(url, 'PUT', `/w/files/d/f${i}`, text)).ok) answered.set(`/d/f${i}`, text)
      }
    } catch {
      // The connection broke: that is the moment this test is about.
    }
    return answered
  }

  it.each([3, 6, 9, 12, 15, 19, 24, 31, 40])(
    'in sync %i: nothing it answered for is missing',
    async (n) => {
      const url = await serve(n)
      const answered = url === undefined ? new Map<string, string>() : await writeUntilDeath(url)
      for (const each of running.splice(0)) await stop(each)
      const again = await serve()
      expect(again).toBeDefined()
      await ask(again!, 'POST', '', '{"name":"w"}')
      for (const [path, text] of answered)
        expect([path, await (await ask(again!, 'GET', `/w/files${path}`)).text()]).toEqual([
          path,
          text,
        ])
      expect((await ask(again!, 'PUT', '/w/files/after', 'alive')).ok).toBe(true)
    },
    60_000,
  )

  /** Issues tokens, spends and revokes until the server dies; gives what it answered for. */
  const issueUntilDeath = async (url: string): Promise<Map<string, 'live' | 'revoked'>> => {
    const answered = new Map<string, 'live' | 'revoked'>()
    try {
      await ask(url, 'POST', '', '{"name":"w"}')
      for (let i = 0; i < filesMax; i++) {
        const allow = [{ path: '/d', operations: ['read', 'write'] }]
        const body = JSON.stringify({ name: `t${i}`, ttlMs: 600_000, allow })
        const issued = await ask(url, 'POST', '/w/tokens', body)
        if (!issued.ok) continue
        const { secret } = (await issued.json()) as { secret: string }
        answered.set(secret, 'live')
        if (i % 2 === 0 || !(await ask(url, 'DELETE', `/w/tokens/t${i}`)).ok) continue
        answered.set(secret, 'revoked')
      }
    } catch {
      // As above.
    }
    return answered
  }

  it.each([5, 7, 9, 12])(
    'in sync %i: a token it issued is good, one it revoked is not',
    async (n) => {
      const url = await serve(n)
      const answered = url === undefined ? new Map<string, string>() : await issueUntilDeath(url)
      for (const each of running.splice(0)) await stop(each)
      const again = await serve()
      for (const [secret, state] of answered) {
        const headers = { authorization: `Bearer ${secret}` }
        const { status } = await fetch(`${again}/v1/workspaces/w`, { headers })
        // One whose revocation was under way may be either.
        if (state === 'revoked') expect(status).toBe(401)
        else if (secret !== [...answered.keys()].at(-1)) expect(status).toBe(200)
      }
    },
    60_000,
  )
})
