import { describe, expect, it } from 'vitest'
import { type CrashServer, hasStrace } from './crash-server.ts'
import { useCrashServer } from './use-crash-server.ts'

/**
 * Every acknowledgement of the embedded server follows a sync. Killing it inside the n-th one, for many n, kills it
 * before and after each of them in turn; whatever it had answered must be there when it starts again.
 */
const filesMax = 60
/** Each kill takes two starts of a server. `npm run test:soak` asks at all of them. */
const atSyncs = (few: readonly number[], more: readonly number[]): readonly number[] =>
  process.env['CAIRN_RUNS'] === undefined ? few : [...few, ...more]

describe.skipIf(!hasStrace)('the embedded server, killed inside a sync (needs strace)', () => {
  const { start, copyPrepared } = useCrashServer(async () => undefined)

  /** Writes until the server dies; gives what it answered for. */
  const writeUntilDeath = async (server: CrashServer): Promise<Map<string, string>> => {
    const answered = new Map<string, string>()
    try {
      await server.ask('POST', '', '{"name":"w"}')
      for (let i = 0; i < filesMax; i++) {
        // Every third is large enough to become an object of its own.
        const text = `${i} `.repeat(i % 3 === 2 ? 40_000 : 10)
        if ((await server.ask('PUT', `/w/files/d/f${i}`, text)).ok) answered.set(`/d/f${i}`, text)
      }
    } catch {
      // The connection broke: that is the moment this test is about.
    }
    return answered
  }

  const first = atSyncs([3, 31], [15]).map((n) => ({ n, of: 'its first start' }))
  const later = atSyncs([3, 8, 17], [5, 12, 25]).map((n) => ({ n, of: 'a later start' }))

  it.each([...first, ...later])(
    'in sync $n of $of: nothing it answered for is missing',
    async ({ n, of }) => {
      // The schema alone takes dozens of syncs.
      if (of === 'a later start') await copyPrepared()
      const server = await start(n)
      const answered = await writeUntilDeath(server)
      await server.stop()
      const again = await start()
      expect(again.url).toBeDefined()
      await again.ask('POST', '', '{"name":"w"}')
      for (const [path, text] of answered)
        expect([path, await (await again.ask('GET', `/w/files${path}`)).text()]).toEqual([
          path,
          text,
        ])
      expect((await again.ask('PUT', '/w/files/after', 'alive')).ok).toBe(true)
    },
    60_000,
  )

  /** Issues tokens, spends and revokes until the server dies; gives what it answered for. */
  const issueUntilDeath = async (server: CrashServer): Promise<Map<string, 'live' | 'revoked'>> => {
    const answered = new Map<string, 'live' | 'revoked'>()
    try {
      await server.ask('POST', '', '{"name":"w"}')
      for (let i = 0; i < filesMax; i++) {
        const allow = [{ path: '/d', operations: ['read', 'write'] }]
        const body = JSON.stringify({ name: `t${i}`, ttlMs: 600_000, allow })
        const issued = await server.ask('POST', '/w/tokens', body)
        if (!issued.ok) continue
        const { secret } = (await issued.json()) as { secret: string }
        answered.set(secret, 'live')
        if (i % 2 === 0 || !(await server.ask('DELETE', `/w/tokens/t${i}`)).ok) continue
        answered.set(secret, 'revoked')
      }
    } catch {
      // As above.
    }
    return answered
  }

  it.each(atSyncs([5, 9], [7, 12]))(
    'in sync %i of a later start: a token it issued is good, one it revoked is not',
    async (n) => {
      await copyPrepared()
      const server = await start(n)
      const answered = await issueUntilDeath(server)
      await server.stop()
      const again = await start()
      for (const [secret, state] of answered) {
        const headers = { authorization: `Bearer ${secret}` }
        const { status } = await fetch(`${again.url}/v1/workspaces/w`, { headers })
        // One whose revocation was under way may be either.
        if (state === 'revoked') expect(status).toBe(401)
        else if (secret !== [...answered.keys()].at(-1)) expect(status).toBe(200)
      }
    },
    60_000,
  )

  /** Writes under a token with a budget until the server dies. */
  const spendUntilDeath = async (server: CrashServer): Promise<void> => {
    try {
      await server.ask('POST', '', '{"name":"w"}')
      const allow = [{ path: '/', operations: ['read', 'list', 'write'] }]
      const grant = JSON.stringify({ name: 't', ttlMs: 600_000, allow, maxFiles: 1000 })
      const issued = await server.ask('POST', '/w/tokens', grant)
      const { secret } = (await issued.json()) as { secret: string }
      const headers = { authorization: `Bearer ${secret}` }
      for (let i = 0; i < filesMax; i++)
        await fetch(`${server.url}/v1/workspaces/w/files/f${i}`, {
          method: 'PUT',
          headers,
          body: `${i}`,
        })
    } catch {
      // As above.
    }
  }

  it.each(atSyncs([9, 11, 12], [8, 10, 13]))(
    'in sync %i of a later start: a token was charged for exactly what it wrote',
    async (n) => {
      await copyPrepared()
      const server = await start(n)
      await spendUntilDeath(server)
      await server.stop()
      const again = await start()
      const { used } = (await (await again.ask('GET', '/w/tokens/t')).json()) as {
        used?: { files: number }
      }
      const listed = await again.ask('GET', '/w/files/?list&limit=1000')
      const { items } = (await listed.json()) as { items: readonly unknown[] }
      expect(used?.files ?? 0).toBe(items.length)
    },
    60_000,
  )

  /** Adds keys, rotates and removes them until the server dies; gives what it answered for. */
  const changeKeysUntilDeath = async (
    server: CrashServer,
  ): Promise<{ live: string[]; ended: string[] }> => {
    const [live, ended]: string[][] = [[], []]
    const ask = async (method: string, path: string, body?: object): Promise<string> => {
      const answer = await server.ask(method, `/../keys${path}`, body && JSON.stringify(body))
      return ((await answer.json()) as { secret: string }).secret
    }
    try {
      for (let i = 0; i < filesMax; i++) {
        const first = await ask('POST', '', { name: `k${i}` })
        const second = await ask('POST', `/k${i}/rotate`, {})
        ended!.push(first)
        if (i % 2 === 0) live!.push(second)
        else {
          await ask('DELETE', `/k${i}`)
          ended!.push(second)
        }
      }
    } catch {
      // As above.
    }
    return { live: live!, ended: ended! }
  }

  it.each(atSyncs([5, 9], [7, 12]))(
    'in sync %i of a later start: an owner key it added is good, one it rotated or removed is not',
    async (n) => {
      await copyPrepared()
      const server = await start(n)
      const { live, ended } = await changeKeysUntilDeath(server)
      await server.stop()
      const again = await start()
      const statuses = (secrets: readonly string[]): Promise<number[]> =>
        Promise.all(
          secrets.map(async (secret) => {
            const headers = { authorization: `Bearer ${secret}` }
            return (await fetch(`${again.url}/v1/keys`, { headers })).status
          }),
        )
      expect(await statuses(live)).toEqual(live.map(() => 200))
      expect(await statuses(ended)).toEqual(ended.map(() => 401))
    },
    60_000,
  )
})
