import { describe, expect, it } from 'vitest'
import { e2bNetworkOf, egressOf } from './network.ts'
import { parseProvider } from './parse-provider.ts'
import { placeWorkspace, reservationKeyOf } from './placement.ts'
import type { ProviderInput } from './provider-config.ts'

const parse = (config: object): ReturnType<typeof parseProvider> =>
  parseProvider({ name: 'mine', config: { provider: 'e2b', ...config } as ProviderInput })

describe('a provider configuration', () => {
  it('a provider configuration is taken as the document has it', () => {
    const config = parse({
      network: { mode: 'allow-all' },
      permissionMode: 'ask',
      options: { apiKey: '...', template: 'runtime-template', workspaceRoot: '/mnt/workspaces' },
    })
    expect(config).toMatchObject({
      network: { mode: 'allow-all' },
      persistent: false,
      timeout: 30,
      outputLimitBytes: 65_536,
      runtimes: ['bash', 'python', 'node'],
      options: { template: 'runtime-template', workspaceRoot: '/mnt/workspaces' },
    })
  })

  it('a provider configuration has the documented defaults: deny-all, ask, 900 s idle, 7 days', () => {
    expect(parse({ persistent: true })).toMatchObject({
      network: { mode: 'deny-all' },
      permissionMode: 'ask',
      lifecycle: { idleTimeoutSeconds: 900, maxLifetimeSeconds: 604_800 },
    })
  })

  it.each<[string, object, RegExp]>([
    ['another provider', { provider: 'lambda' }, /sandbox mine: provider: it must be e2b or local/],
    ['an unknown mode', { network: { mode: 'open' } }, /network\.mode: .*allow-all/],
    [
      'domains without restricted',
      { network: { mode: 'allow-all', allowDomains: ['a.test'] } },
      /for mode restricted/,
    ],
    [
      'a CIDR that is none',
      { network: { mode: 'restricted', allowCidrs: ['10.0.0.0/40'] } },
      /network\.allowCidrs/,
    ],
    ['an unknown permission mode', { permissionMode: 'never' }, /permissionMode: .*bypass/],
    [
      'a lifecycle of a machine that does not stay',
      { lifecycle: {} },
      /lifecycle: .*Set persistent to true/,
    ],
    [
      'hooks of a machine that does not stay',
      { onCreate: ['true'] },
      /onCreate: .*Set persistent to true/,
    ],
    ['an empty hook', { persistent: true, onResume: [] }, /onResume/],
    [
      'an idle time of nothing',
      { persistent: true, lifecycle: { idleTimeoutSeconds: 0 } },
      /idleTimeoutSeconds/,
    ],
    [
      'a lifetime that is too long',
      { persistent: true, lifecycle: { maxLifetimeSeconds: 2_592_001 } },
      /maxLifetimeSeconds/,
    ],
    ['a timeout that is too long', { timeout: 601 }, /timeout/],
    ['too much output', { outputLimitBytes: 262_145 }, /outputLimitBytes/],
    ['no runtime', { runtimes: [] }, /runtimes/],
    [
      'both names of the template',
      { options: { template: 'a', templateId: 'b' } },
      /two names of one option/,
    ],
    [
      'the former key internet',
      { options: { internet: true } },
      /options\.internet: .*Say network\.mode/,
    ],
    ['a slip in a name', { presistent: true }, /no field presistent/],
    ['a variable that no shell takes', { envVars: { 'A-B': 'x' } }, /envVars/],
    ['a relative workspaceRoot', { options: { workspaceRoot: 'mnt' } }, /workspaceRoot/],
  ])('with %s is refused, and the error says what to write', (_, config, message) => {
    expect(() => parse(config)).toThrow(message)
  })

  it('takes templateId for template, and trims slashes off workspaceRoot', () => {
    const { options } = parse({ options: { templateId: 'x', workspaceRoot: '/w//' } })
    expect(options).toEqual({ template: 'x', workspaceRoot: '/w' })
    const config = parse({ options: { workspaceRoot: '/' } })
    expect(placeWorkspace({ name: 'site' }, config).workspace.mountPath).toBe('/site')
  })

  it('a provider configuration that stays has a key: the given one, else that of the workspace and its layer', () => {
    const config = parse({ persistent: true })
    const placement = placeWorkspace({ name: 'site', layer: 'l1' }, config)
    expect(reservationKeyOf(config, placement)).toBe('site@l1')
    expect(() => reservationKeyOf(config, undefined)).toThrow(/Attach a workspace/)
    const keyed = parse({ persistent: true, options: { reservationKey: 'mine' } })
    expect(reservationKeyOf(keyed, undefined)).toBe('mine')
    expect(reservationKeyOf(parse({}), placement)).toBeUndefined()
    expect(() => placeWorkspace({ name: 'site', namespace: '../up' }, config)).toThrow(/namespace/)
  })
})

describe('network modes', () => {
  const restricted = {
    mode: 'restricted',
    allowDomains: ['a.test'],
    allowCidrs: ['192.0.2.0/24'],
  } as const

  it('network modes are rules of a jail', () => {
    expect(egressOf({ mode: 'deny-all' })).toBeUndefined()
    expect(egressOf({ mode: 'allow-all' })).toEqual({})
    expect(egressOf(restricted)).toEqual({
      deny: ['0.0.0.0/0'],
      allow: ['a.test', '192.0.2.0/24'],
    })
  })

  it('network modes are rules of E2B, with a way to the workspace', () => {
    const needed = ['https://cairn.test', 'https://cairn.test/hooks']
    expect(e2bNetworkOf({ mode: 'allow-all' }, needed)).toEqual({})
    expect(e2bNetworkOf({ mode: 'deny-all' }, needed)).toEqual({
      denyOut: ['0.0.0.0/0'],
      allowOut: ['cairn.test'],
    })
    expect(e2bNetworkOf(restricted, ['http://192.0.2.7:7070'])).toEqual({
      denyOut: ['0.0.0.0/0'],
      allowOut: ['192.0.2.7/32', 'a.test', '192.0.2.0/24'],
    })
  })

  it('network modes that would cut a machine off from its workspace are refused', () => {
    const deny = { mode: 'deny-all' } as const
    expect(() => e2bNetworkOf(deny, ['http://cairn.test:7070'])).toThrow(/port 7070.*port 443/s)
    expect(() => e2bNetworkOf(deny, ['http://[2001:db8::1]'])).toThrow(/IPv6/)
  })
})
