import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { E2B } from 'e2b'
import { afterAll, beforeAll } from 'vitest'
import { type E2BServer, type E2BServerOptions, serveE2B } from '../src/e2b-server/server.ts'

export interface ServerForTest {
  readonly server: E2BServer
  /** The unmodified SDK, told where the server is. */
  readonly e2b: E2B
  readonly data: string
  /** Ends the server and starts another on the same data. */
  restart(): Promise<void>
}

/** Jails need root. */
export const canServe: boolean = process.platform === 'linux' && process.getuid?.() === 0

/** A server for all tests of a file; there when the first of them runs. */
export function serveForTests(options: Partial<E2BServerOptions> = {}): ServerForTest {
  const parts = {} as { server: E2BServer; e2b: E2B; data: string }
  const start = async (): Promise<void> => {
    parts.server = await serveE2B({ hostSystem: true, ...options, data: parts.data })
    const { url, apiKey } = parts.server
    parts.e2b = new E2B({ apiKey, apiUrl: url, sandboxUrl: url })
  }
  beforeAll(async () => {
    parts.data = await mkdtemp(join(tmpdir(), 'cairn-e2b-'))
    await start()
  })
  afterAll(async () => {
    await parts.server.close()
    await rm(parts.data, { recursive: true, force: true })
  })
  return {
    get server() {
      return parts.server
    },
    get e2b() {
      return parts.e2b
    },
    get data() {
      return parts.data
    },
    restart: async () => {
      await parts.server.close()
      await start()
    },
  }
}
