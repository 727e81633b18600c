import { execFileSync } from 'node:child_process'
import { createServer as createHttp, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EgressRules, Jail, JailOutside } from '@cairn/sandbox'
import { say, useJails } from './jail-fixture.ts'
import { noJail } from './local-setup.ts'

const noExit = noJail ?? (has('nft') ? undefined : 'nft is not installed')
const names: Readonly<Record<string, string>> = {
  'good.example': '198.51.100.1',
  'sub.good.example': '198.51.100.2',
  'bad.example': '203.0.113.1',
  'inner.example': '10.1.2.3',
}

/** The connection was reset, as early or late as the client noticed. */
const refused: unknown = expect.stringMatching(/^failed (?:7|56)$/)

/** A world on one loopback port: whatever is dialled is told what was dialled. */
describe.skipIf(noExit !== undefined)(`the way out of a jail (${noExit ?? 'by nft'})`, () => {
  const jails = useJails()
  let server: Server
  const dialled: string[] = []
  const outside: JailOutside = {
    resolve: async (name) => {
      const address = names[name]
      if (address === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
      return [address]
    },
    connect: (address, port) => {
      dialled.push(`${address}:${port}`)
      return dial((server.address() as AddressInfo).port)
    },
  }
  const make = (egress: EgressRules): Promise<Jail> =>
    jails.make({ network: 'egress', egress, outside })
  const get = async (jail: Jail, url: string, ...options: readonly string[]): Promise<string> => {
    const { code, text } = await say(jail, `curl -sS -m 20 ${options.join(' ')} ${url}`)
    return code === 0 ? text : `failed ${code}`
  }

  beforeAll(async () => {
    server = createHttp((request, response) => response.end(`hello ${request.headers.host}`))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => server.close())

  it('the way out of a jail is open unless told otherwise: any port, names too', async () => {
    const jail = await make({})
    expect(await get(jail, 'http://good.example/')).toBe('hello good.example')
    expect(await get(jail, 'http://203.0.113.9:8080/')).toBe('hello 203.0.113.9:8080')
    expect(dialled.splice(0)).toEqual(['198.51.100.1:80', '203.0.113.9:8080'])
    expect(await get(jail, 'http://missing.example/')).toBe('failed 6')
  })

  it('the network reaches neither private networks nor this machine', async () => {
    const jail = await make({})
    for (const place of ['10.1.2.3', '169.254.169.254', '192.168.1.1', 'inner.example'])
      expect([place, await get(jail, `http://${place}/`)]).toEqual([place, refused])
    const { port } = server.address() as AddressInfo
    expect(await get(jail, `http://127.0.0.1:${port}/`)).toBe('failed 7')
    await jail.setEgress({ allow: ['10.0.0.0/8'] })
    expect(await get(jail, 'http://inner.example/')).toBe('hello inner.example')
    expect(dialled.splice(0)).toEqual(['10.1.2.3:80'])
  })

  it('the way out of a jail is shut by denying everything, and says so at once', async () => {
    const jail = await make({ deny: ['0.0.0.0/0'] })
    expect(await get(jail, 'http://198.51.100.1/')).toEqual(refused)
    expect(await get(jail, 'http://good.example/')).toBe('failed 6')
    expect(dialled.splice(0)).toEqual([])
  })

  it('lets networks through that are allowed, whatever is denied', async () => {
    const jail = await make({ allow: ['198.51.100.0/24'], deny: ['0.0.0.0/0'] })
    expect(await get(jail, 'http://198.51.100.7/')).toBe('hello 198.51.100.7')
    expect(await get(jail, 'http://203.0.113.1/')).toEqual(refused)
    dialled.splice(0)
  })

  it('denies networks, and nothing else', async () => {
    const jail = await make({ deny: ['203.0.113.0/24'] })
    expect(await get(jail, 'http://bad.example/')).toEqual(refused)
    expect(await get(jail, 'http://good.example/')).toBe('hello good.example')
    dialled.splice(0)
  })

  it('knows domains by the Host of HTTP and the server name of TLS', async () => {
    const jail = await make({ allow: ['good.example', '*.good.example'], deny: ['0.0.0.0/0'] })
    expect(await get(jail, 'http://good.example/')).toBe('hello good.example')
    expect(await get(jail, 'http://sub.good.example/')).toBe('hello sub.good.example')
    expect(await get(jail, 'http://bad.example/')).toBe('failed 6')
    expect(dialled.splice(0)).toEqual(['198.51.100.1:80', '198.51.100.2:80'])
    // The server speaks no TLS: what matters is who was dialled.
    await get(jail, 'https://good.example/')
    await get(jail, 'https://bad.example/', '--resolve bad.example:443:198.51.100.1')
    expect(dialled.splice(0)).toEqual(['198.51.100.1:443'])
  })

  it('goes where the name is, not where the client says that it is', async () => {
    const jail = await make({ allow: ['good.example'], deny: ['0.0.0.0/0'] })
    await get(jail, 'http://203.0.113.66/', '-H "Host: good.example"')
    expect(dialled.splice(0)).toEqual(['198.51.100.1:80'])
  })

  it('the way out of a jail is no wider for a root that takes the firewall down', async () => {
    const jail = await make({ deny: ['0.0.0.0/0'] })
    expect(await say(jail, 'nft flush ruleset', 'root')).toMatchObject({ code: 0 })
    expect(await get(jail, 'http://198.51.100.1/')).toBe('failed 7')
    expect(dialled.splice(0)).toEqual([])
  })

  it('changes for new connections', async () => {
    const jail = await make({ deny: ['0.0.0.0/0'] })
    await jail.setEgress({})
    expect(await get(jail, 'http://good.example/')).toBe('hello good.example')
    await expect(jail.setEgress({ deny: ['bad.example'] })).rejects.toThrow(/bad\.example/)
    dialled.splice(0)
  })
})

function dial(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.once('error', reject)
  })
}

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}
