// Comparing the lines of files that have nothing in order takes a second. Other clients are answered meanwhile.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../e2e/start-server.ts'

/** Lines of two kinds in no order: nothing is unique, and every place could match every other. */
function hostile(seed: number): string {
  let state = seed
  const lines = Array.from({ length: 400_000 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state & 0x10000 ? 'a\n' : 'b\n'
  })
  return lines.join('')
}

describe('two files of 400,000 lines without order', () => {
  let server: TestServer
  const ask = (method: string, path: string, body?: string): Promise<Response> =>
    fetch(`${server.url}/v1/workspaces${path}`, {
      method,
      headers: { authorization: `Bearer ${server.apiKey}` },
      ...(body === undefined ? {} : { body }),
    })

  beforeAll(async () => {
    server = await startServer()
    await ask('POST', '', '{"name":"w"}')
    await ask('PUT', '/w/files/a', 'a')
    await ask('PUT', '/w/files/f', hostile(1))
    await ask('POST', '/w/layers', '{"id":"side"}')
    await ask('PUT', '/w/files/f?layer=side', hostile(2))
  }, 60_000)
  afterAll(() => server.stop())

  /** How many requests of another client are answered while this one is. */
  const answeredBeside = async (work: Promise<unknown>): Promise<number> => {
    let isDone = false
    let count = 0
    void work.finally(() => (isDone = true)).catch(() => {})
    while (!isDone) {
      await (await ask('GET', '/w/files/a')).text()
      if (!isDone) count++
    }
    await work
    return count
  }

  it('as a patch: other clients are answered meanwhile', async () => {
    const patch = ask('GET', '/w/layers/side/diff?patch').then((answer) => answer.text())
    expect(await answeredBeside(patch)).toBeGreaterThan(2)
    expect(await patch).toContain('@@')
  }, 60_000)

  it('in a merge: other clients are answered meanwhile, and nothing is lost', async () => {
    await ask('PUT', '/w/files/f', hostile(3))
    const commit = ask('POST', '/w/layers/side/commit', '{"merge":true}')
    expect(await answeredBeside(commit)).toBeGreaterThan(2)
    expect((await commit).status).toBe(409)
  }, 60_000)

  it('in blame: other clients are answered meanwhile', async () => {
    expect(await answeredBeside(ask('GET', '/w/blame?path=/f'))).toBeGreaterThan(2)
  }, 60_000)
})
