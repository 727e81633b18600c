// The secret of `cairn git clone --credential` is for the host of the URL, and for no host that it redirects to.
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, expect, it } from 'vitest'
import { useCairn } from '../e2e/run-cairn.ts'
import { useServer } from '../e2e/use-server.ts'

const cairn = useCairn()
const server = useServer(cairn)
const hosts: Server[] = []
let shown: string[] = []

afterEach(() => (shown = []))
afterAll(() => {
  for (const host of hosts) host.close()
})

/** Gives its address. */
async function host(answer: (url: string, response: ServerResponse) => void): Promise<string> {
  const made = createServer((request, response) => {
    if (request.headers.authorization !== undefined) shown.push(request.headers.authorization)
    answer(request.url!, response)
  })
  hosts.push(made)
  made.listen(0, '127.0.0.1')
  await once(made, 'listening')
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

const asks = (_url: string, response: ServerResponse): void =>
  void response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end()

async function cloneFrom(url: string): Promise<void> {
  const workspace = await server.enter()
  await workspace.vault.set('git', { token: 'the-secret' })
  const wishes = ['--fast', '--credential', 'vault:git/token']
  const { code } = await cairn.run(['git', 'clone', ...wishes, `${url}/r.git`, ':/in'], {
    env: { GIT_TERMINAL_PROMPT: '0' },
  })
  expect(code).not.toBe(0)
}

it('the host of the URL gets the secret', async () => {
  await cloneFrom(await host(asks))
  expect(Buffer.from(shown[0]!.slice('Basic '.length), 'base64').toString()).toBe(
    'x-access-token:the-secret',
  )
})

it('another host, to which that one redirects: gets none', async () => {
  const other = await host(asks)
  await cloneFrom(
    await host(
      (url, response) => void response.writeHead(302, { location: `${other}${url}` }).end(),
    ),
  )
  expect(shown).toEqual([])
})
