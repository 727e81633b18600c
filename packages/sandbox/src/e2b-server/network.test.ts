import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { ALL_TRAFFIC, type Sandbox } from 'e2b'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JailOutside } from '../jail/jail.ts'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'

/** Addresses of networks reserved for examples: only this test answers there. */
const addresses: Readonly<Record<string, string>> = {
  'one.test': '192.0.2.1',
  'api.two.test': '198.51.100.2',
}

describe.skipIf(!canServe)('what a sandbox may reach, through the e2b package', () => {
  let web: Server
  const outside: JailOutside = {
    resolve: (name) => Promise.resolve(name in addresses ? [addresses[name]!] : []),
    connect: () =>
      new Promise((resolve, reject) => {
        const { port } = web.address() as AddressInfo
        const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true }, () =>
          resolve(socket),
        )
        socket.once('error', reject)
      }),
  }
  const test = serveForTests({ outside })
  beforeAll(async () => {
    web = createServer((request, response) => response.end(`hello ${request.headers.host}`))
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    web.closeAllConnections()
    web.close()
  })

  async function reachable(sandbox: Sandbox): Promise<string[]> {
    const targets = [...Object.keys(addresses), ...Object.values(addresses)]
    const ask = targets.map(
      (target) => `curl -s -m 5 http://${target}/ | grep -qx 'hello ${target}' && echo ${target}`,
    )
    const { stdout } = await sandbox.commands.run(`${ask.join('; ')}; true`)
    return stdout.split('\n').filter((line) => line !== '')
  }

  const all = ['one.test', 'api.two.test', '192.0.2.1', '198.51.100.2']

  it('everything, unless it is told otherwise; and what it is told later', async () => {
    const sandbox = await test.e2b.Sandbox.create()
    await expect(reachable(sandbox)).resolves.toEqual(all)
    await sandbox.updateNetwork({ denyOut: ['192.0.2.0/24'] })
    await expect(reachable(sandbox)).resolves.toEqual(['api.two.test', '198.51.100.2'])
    await sandbox.updateNetwork({})
    await expect(reachable(sandbox)).resolves.toEqual(all)
    await sandbox.kill()
  })

  it('nothing, only some addresses, only some names', async () => {
    const make = (options: object): Promise<Sandbox> => test.e2b.Sandbox.create(options)
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [{ allowInternetAccess: false }, []],
      // A name that is not allowed has no address: a lookup would be a way to send data out.
      [{ network: { denyOut: [ALL_TRAFFIC], allowOut: ['198.51.100.0/24'] } }, ['198.51.100.2']],
      [{ network: { denyOut: [ALL_TRAFFIC], allowOut: ['*.two.test'] } }, ['api.two.test']],
    ]
    for (const [options, expected] of cases) {
      const sandbox = await make(options)
      expect([options, await reachable(sandbox)]).toEqual([options, expected])
      await sandbox.kill()
    }
  })

  it('refuses rules that it could not keep', async () => {
    const create = (network: object): Promise<unknown> => test.e2b.Sandbox.create({ network })
    await expect(create({ denyOut: ['one.test'] })).rejects.toThrow(/cannot deny one.test/)
    await expect(create({ allowOut: ['one.test'] })).rejects.toThrow(/ALL_TRAFFIC/)
  })
})
