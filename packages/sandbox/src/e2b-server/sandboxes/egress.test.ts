import { describe, expect, it } from 'vitest'
import { compileRules } from '../../jail/egress/rules.ts'
import { egressOf, parseNetwork } from './egress.ts'

describe('rules of E2B, kept by a jail', () => {
  const judge = (network: object, address: string, allowInternetAccess?: boolean): string =>
    compileRules(egressOf({ network: parseNetwork(network), allowInternetAccess })).judge(address)
  const all = '0.0.0.0/0'

  it.each([
    [{}, '203.0.113.1', 'allow'],
    [{ denyOut: ['203.0.113.0/24'] }, '203.0.113.1', 'deny'],
    [{ denyOut: ['203.0.113.0/24'], allowOut: ['203.0.113.1'] }, '203.0.113.1', 'allow'],
    [{ denyOut: [all] }, '203.0.113.1', 'deny'],
    [{ denyOut: [all], allowOut: ['example.org'] }, '203.0.113.1', 'ask'],
    [{ denyOut: [all], allowOut: [all] }, '203.0.113.1', 'allow'],
  ])('%j: %s %s', (network, address, verdict) => {
    expect(judge(network, address)).toBe(verdict)
  })

  it('a jail without the internet reaches nothing', () => {
    expect(judge({}, '203.0.113.1', false)).toBe('deny')
  })

  it.each([
    {},
    { allowOut: [all] },
    { denyOut: [all], allowOut: [all] },
    { allowOut: [all, '::/0'] },
  ])('%j: the services of this machine and the keys of its cloud stay out of reach', (network) => {
    for (const address of ['127.0.0.1', '169.254.169.254', '192.168.0.1'])
      expect(judge(network, address)).toBe('deny')
  })
})
