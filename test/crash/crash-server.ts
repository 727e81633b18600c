import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const hasStrace: boolean = ((): boolean => {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

const child = fileURLToPath(new URL('./server-child.ts', import.meta.url))
/** More than the thread pool's would spread the syncs over threads, and strace counts by thread. */
const env = { ...process.env, UV_THREADPOOL_SIZE: '1' }

/** A server in a process of its own that dies inside its n-th sync. */
export interface CrashServer {
  /** Undefined when it died before it listened. */
  readonly url: string | undefined
  /** Below `/v1/workspaces`, with the owner's key. */
  ask(method: string, path: string, body?: string | Uint8Array<ArrayBuffer>): Promise<Response>
  stop(): Promise<void>
}

export async function startCrashServer(data: string, killAtSync?: number): Promise<CrashServer> {
  const node = [process.execPath, '--conditions=source', child, data]
  const inject = `inject=fsync,fdatasync:signal=KILL:when=${killAtSync}`
  const trace = ['-o', '/dev/null', '-e', 'trace=fsync,fdatasync', '-e', inject]
  const strace = ['strace', '-f', '-qq', ...trace]
  const [command, ...args] = killAtSync === undefined ? node : [...strace, ...node]
  const server = spawn(command!, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string | undefined>((resolve) => {
    createInterface(server.stdout).once('line', resolve)
    server.once('exit', () => resolve(undefined))
  })
  return {
    url,
    ask: async (method, path, body) => {
      const key = (await readFile(join(data, 'owner-key'), 'utf8')).trim()
      return fetch(`${url}/v1/workspaces${path}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(body === undefined ? {} : { body }),
      })
    },
    stop: () => stop(server),
  }
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGKILL')
  await once(server, 'exit')
}
