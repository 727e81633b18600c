import type { SessionClient } from '@cairn/mount'
import { afterEach } from 'vitest'
import { openSession, type RunningServer, startServer } from './fixture.ts'

export interface UsedSessions {
  readonly startServer: typeof startServer
  readonly openSession: typeof openSession
}

/** Servers and sessions of one test. They end after it, the newest first. */
export function useSessions(): UsedSessions {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })
  return {
    startServer: async (...options): Promise<RunningServer> => {
      const server = await startServer(...options)
      ends.push(server.close)
      return server
    },
    openSession: (...options): SessionClient => {
      const session = openSession(...options)
      ends.push(() => session.abandon())
      return session
    },
  }
}
