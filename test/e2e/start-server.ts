import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cairn } from '@cairn/sdk'
import { serve, type ServeOptions } from '@cairn/server'

export interface TestServer {
  readonly url: string
  readonly apiKey: string
  /** Its data directory. */
  readonly data: string
  readonly cairn: Cairn
  readonly stop: () => Promise<void>
}

/** A real server on its own port and directory. */
export async function startServer(
  options: Pick<ServeOptions, 'allowHosts'> = {},
): Promise<TestServer> {
  const data = await mkdtemp(join(tmpdir(), 'cairn-e2e-'))
  const serving = await serve({ data, listen: '127.0.0.1:0', ...options })
  const { url, ownerKey: apiKey } = serving
  if (apiKey === undefined) throw new Error('the first start made no key')
  return {
    url,
    apiKey,
    data,
    cairn: new Cairn({ server: url, apiKey }),
    stop: async () => {
      await serving.close()
      await rm(data, { recursive: true })
    },
  }
}
