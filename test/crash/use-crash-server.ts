import { cp } from 'node:fs/promises'
import { makeTemporaryDirectory, removeDirectory } from '@cairn/server/testing'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type CrashServer, startCrashServer } from './crash-server.ts'

export interface UsedCrashServer {
  readonly directory: () => string
  /** Starts a server on the test's directory. It is killed after the test, if not before. */
  readonly start: (killAtSync?: number) => Promise<CrashServer>
  /** Has the test's directory begin as `prepare` left its own: the first syncs are not those of a new schema. */
  readonly copyPrepared: () => Promise<void>
}

/** A data directory for each test around the call, and servers on it. */
export function useCrashServer(
  prepare?: (server: CrashServer) => Promise<unknown>,
): UsedCrashServer {
  let prepared: string
  let data: string
  const running: CrashServer[] = []

  if (prepare) {
    beforeAll(async () => {
      prepared = await makeTemporaryDirectory()
      const server = await startCrashServer(prepared)
      await prepare(server)
      await server.stop()
    })
    afterAll(() => removeDirectory(prepared))
  }
  beforeEach(async () => {
    data = await makeTemporaryDirectory()
  })
  afterEach(async () => {
    for (const server of running.splice(0)) await server.stop()
    await removeDirectory(data)
  })
  return {
    directory: () => data,
    start: async (killAtSync) => {
      const server = await startCrashServer(data, killAtSync)
      running.push(server)
      return server
    },
    copyPrepared: () => cp(prepared, data, { recursive: true }),
  }
}
