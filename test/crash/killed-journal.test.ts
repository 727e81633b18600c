import { describe, expect, it } from 'vitest'
import { type CrashServer, hasStrace } from './crash-server.ts'
import { useCrashServer } from './use-crash-server.ts'

/** What was told to a journal or put into the vault, and answered for, is there after a kill inside any sync. */
describe.skipIf(!hasStrace)('journal and vault, killed inside a sync (needs strace)', () => {
  const { start, copyPrepared } = useCrashServer(async (server) => {
    await server.ask('POST', '', '{"name":"w"}')
    await server.ask('POST', '/w/journals', '{"id":"j"}')
    await server.ask('PUT', '/w/vault/secrets/kept', '{"fields":{"N":{"text":"kept"}}}')
  })

  const json = async (answer: Promise<Response>): Promise<Record<string, unknown>> =>
    (await (await answer).json()) as Record<string, unknown>

  /** Gives the last entry and the last version it was answered for. */
  const writeUntilDeath = async (
    server: CrashServer,
  ): Promise<{ seq: number; version: number }> => {
    const last = { seq: 0, version: 0 }
    try {
      for (let i = 0; i < 60; i++) {
        const entries = JSON.stringify({ entries: [{ type: 'n', status: String(i) }] })
        const told = await json(server.ask('POST', '/w/journals/j/entries', entries))
        last.seq = told['last'] as number
        const fields = JSON.stringify({ fields: { N: { text: String(i) } } })
        const put = await json(server.ask('PUT', '/w/vault/secrets/s', fields))
        last.version = put['version'] as number
      }
    } catch {
      // The connection broke: that is the moment this test is about.
    }
    return last
  }

  it.each([3, 4, 9])(
    'in sync %i of its writer: nothing it answered for is missing',
    async (n) => {
      await copyPrepared()
      const server = await start(n)
      const last = await writeUntilDeath(server)
      await server.stop()
      expect(last.seq).toBeLessThan(60)
      const again = await start()
      const verdict = await json(again.ask('GET', '/w/journals/j/verify'))
      expect(verdict['entries']).toBeGreaterThanOrEqual(last.seq)
      if (last.version > 0) {
        const read = await json(again.ask('GET', `/w/vault/secrets/s?version=${last.version}`))
        expect(read['fields']).toEqual({ N: { text: String(last.version - 1) } })
      }
      const entries = '{"entries":[{"type":"alive"}]}'
      expect((await again.ask('POST', '/w/journals/j/entries', entries)).status).toBe(201)
    },
    60_000,
  )

  it.each([3, 4])(
    'in sync %i while the master key is changed: every secret can be read, and it can be changed again',
    async (n) => {
      await copyPrepared()
      const server = await start(n)
      const rotate = (each: CrashServer): Promise<Response> =>
        each.ask('POST', '/../server/rotate-master-key')
      const answers = await Promise.allSettled([1, 2, 3, 4, 5].map(() => rotate(server)))
      expect(answers.at(-1)?.status).toBe('rejected')
      const again = await start()
      const read = async (): Promise<unknown> =>
        (await json(again.ask('GET', '/w/vault/secrets/kept')))['fields']
      expect(await read()).toEqual({ N: { text: 'kept' } })
      expect(await json(rotate(again))).toMatchObject({ left: 0 })
      expect(await read()).toEqual({ N: { text: 'kept' } })
    },
    60_000,
  )
})
