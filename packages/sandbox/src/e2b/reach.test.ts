import { describe, expect, it } from 'vitest'
import { E2BSandbox } from './e2b-sandbox.ts'
import { whyOutOfReach } from './reach.ts'

const why = (server: string, env: Record<string, string> = {}): string | undefined =>
  whyOutOfReach(server, {}, env)

describe('a server that sandboxes at E2B cannot reach', () => {
  it.each([
    'http://localhost:7070',
    'http://127.0.0.1:7070',
    'http://[::1]:7070',
    'http://192.168.1.7:7070',
    'http://10.1.2.3',
    'http://laptop:7070',
    'http://laptop.local:7070',
  ])('%s is named, with what to do', (server) => {
    expect(why(server)).toContain(`cannot reach ${server}`)
    expect(why(server)).toContain('`serverInside`')
  })

  it('a server can be reached that is on the internet, or that sandboxes of this machine ask for', () => {
    expect(why('https://cairn.example.org')).toBeUndefined()
    expect(why('http://203.0.113.7:7070')).toBeUndefined()
    const local = { E2B_API_URL: 'http://127.0.0.1:49999' }
    expect(why('http://127.0.0.1:7070', local)).toBeUndefined()
  })

  it('stops init before a machine is made', async () => {
    const workspace = { name: 'website', server: 'http://127.0.0.1:7070', token: 'cairn_x' }
    const sandbox = new E2BSandbox({ apiKey: 'e2b_x', apiUrl: 'https://api.e2b.app', workspace })
    await expect(sandbox.init()).rejects.toThrow(
      /^cannot use workspace website in a sandbox: .*cannot reach http:\/\/127\.0\.0\.1:7070.*No sandbox was made\.$/,
    )
    await expect(sandbox.status()).resolves.toEqual({ state: 'new' })
  })
})
