import type { Workspace } from '@cairn/sdk'
import { afterAll, beforeAll } from 'vitest'
import { keyFile } from '@cairn/server/testing/key-file'
import type { CairnCommand } from './run-cairn.ts'
import { startServer, type TestServer } from './start-server.ts'

export interface UsedServer extends Omit<TestServer, 'stop'> {
  /** Creates a workspace, with a new name unless given, and makes the context use it, if there is one. */
  readonly enter: (name?: string) => Promise<Workspace>
}

/** A server for all tests around the call, and a saved context for it where there is a command to use it. */
export function useServer(cairn?: CairnCommand, context = 'test'): UsedServer {
  let server: TestServer | undefined
  let count = 0
  beforeAll(async () => {
    server = await startServer()
    if (!cairn) return
    const { url, apiKey } = server
    const add = ['--name', context, '--server', url, '--api-key-file', keyFile(apiKey)]
    await cairn.text('ctx', 'add', ...add)
  })
  afterAll(() => server?.stop())
  return {
    get url() {
      return server!.url
    },
    get apiKey() {
      return server!.apiKey
    },
    get data() {
      return server!.data
    },
    get cairn() {
      return server!.cairn
    },
    enter: async (name = `w${count++}`) => {
      await server!.cairn.workspaces.create(name)
      await cairn?.text('ctx', 'use', context, '-w', name)
      return server!.cairn.workspace(name)
    },
  }
}
