import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { compileRules } from './rules.ts'

describe('egress rules', () => {
  it('allow everything outside when there are none, and nothing inside', () => {
    const policy = compileRules({})
    expect(policy.judge('203.0.113.1')).toBe('allow')
    for (const inner of ['127.0.0.1', '10.0.0.1', '172.31.255.255', '169.254.169.254', '224.0.0.1'])
      expect([inner, policy.judge(inner)]).toEqual([inner, 'deny'])
  })

  it('allow beats deny, also for private networks', () => {
    const policy = compileRules({ allow: ['10.1.0.0/16', '203.0.113.7'], deny: ['0.0.0.0/0'] })
    expect(policy.judge('10.1.2.3')).toBe('allow')
    expect(policy.judge('10.2.2.3')).toBe('deny')
    expect(policy.judge('203.0.113.7')).toBe('allow')
    expect(policy.judge('203.0.113.8')).toBe('deny')
  })

  it('keep this machine out of reach by its own addresses, unless it is named', () => {
    const isMachine = (address: string): boolean => address === '203.0.113.5'
    for (const rules of [{}, { allow: ['0.0.0.0/0'] }, { allow: ['all'], deny: ['all'] }])
      expect(compileRules(rules, isMachine).judge('203.0.113.5')).toBe('deny')
    expect(compileRules({ allow: ['203.0.113.5'] }, isMachine).judge('203.0.113.5')).toBe('allow')
    expect(compileRules({ allow: ['all'], deny: ['all'] }, isMachine).judge('203.0.113.6')).toBe(
      'allow',
    )
    for (const { address } of Object.values(networkInterfaces()).flatMap((each) => each ?? []))
      expect([address, compileRules({}).judge(address)]).toEqual([address, 'deny'])
  })

  it('ask for a name only where one could help', () => {
    const policy = compileRules({ allow: ['example.org'], deny: ['203.0.113.0/24'] })
    expect(policy.judge('203.0.113.1')).toBe('ask')
    expect(policy.judge('198.51.100.1')).toBe('allow')
    expect(policy.judge('10.0.0.1')).toBe('deny')
  })

  it('take a star for what is below a domain, and case and a last dot for nothing', () => {
    const policy = compileRules({ allow: ['*.example.org', 'Example.com'], deny: ['all'] })
    expect(policy.allowsName('a.b.example.org')).toBe(true)
    expect(policy.allowsName('example.org')).toBe(false)
    expect(policy.allowsName('notexample.org')).toBe(false)
    expect(policy.allowsName('EXAMPLE.com.')).toBe(true)
    expect(policy.answersName('elsewhere.net')).toBe(false)
  })

  it('egress rules that deny a domain are refused with what to do instead', () => {
    expect(() => compileRules({ deny: ['example.org'] })).toThrow(/Deny 0\.0\.0\.0\/0/)
  })
})
