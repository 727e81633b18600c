import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { EgressRules } from '../jail.ts'

/** What may leave. Names are only known of connections that say one. */
export interface Policy {
  /** `ask`: it depends on the name it says. */
  judge(address: string): 'allow' | 'deny' | 'ask'
  allowsName(name: string): boolean
  /** Where nothing may leave but to names, other names are not looked up: a question is a message, too. */
  answersName(name: string): boolean
}

/**
 * Networks that only this machine and its neighbours can reach, credentials of clouds among them. A jail gets there by an
 * allow rule that names them, and by no other way.
 */
const inner = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
]
const everything = ['0.0.0.0/0', 'all']

/** This machine by its own addresses, public ones too. They can change at any time, so they are asked for each time. */
function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((each) =>
    each?.some((one) => one.address === address),
  )
}

/** Throws for a rule that cannot be kept. */
export function compileRules(
  { allow = [], deny = [] }: EgressRules,
  isMachine: (address: string) => boolean = isOwn,
): Policy {
  const domain = deny.find((rule) => !isNetwork(rule))
  if (domain !== undefined)
    throw new Error(
      `cannot deny ${domain} to a sandbox: only addresses and networks can be denied. ` +
        'Deny 0.0.0.0/0 and allow the domains it may reach.',
    )
  const allowed = listOf(allow.filter((rule) => isNetwork(rule) && !everything.includes(rule)))
  const allowsAll = allow.some((rule) => everything.includes(rule))
  const denied = listOf(deny)
  const reserved = listOf(inner)
  const domains = allow.filter((rule) => !isNetwork(rule)).map((rule) => rule.toLowerCase())
  const allowsName = (name: string): boolean => domains.some((rule) => matches(rule, name))
  const deniesAll = deny.some((rule) => everything.includes(rule))
  return {
    allowsName,
    answersName: (name) => !deniesAll || allowsName(name),
    judge: (address) => {
      if (allowed.check(address)) return 'allow'
      // "Everything" names no network. To allow these, name them.
      if (reserved.check(address) || isMachine(address)) return 'deny'
      if (allowsAll || !denied.check(address)) return 'allow'
      return domains.length > 0 ? 'ask' : 'deny'
    },
  }
}

/** `10.0.0.0/8`, `10.1.2.3`, or `all`. */
function isNetwork(rule: string): boolean {
  const [address = '', bits] = rule.split('/')
  if (rule === 'all') return true
  return isIP(address) !== 0 && (bits === undefined || /^\d{1,3}$/.test(bits))
}

function listOf(rules: readonly string[]): BlockList {
  const list = new BlockList()
  for (const rule of rules) {
    const [address = '', bits] = (rule === 'all' ? '0.0.0.0/0' : rule).split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** `*.example.org` is everything below it, not itself. */
function matches(rule: string, name: string): boolean {
  const asked = name.toLowerCase().replace(/\.$/, '')
  if (rule === '*') return true
  return rule.startsWith('*.') ? asked.endsWith(rule.slice(1)) : asked === rule
}
