import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AccessOperation,
  accessOperations,
  allows,
  allowsAll,
  type Caveat,
  type Grant,
  isVisible,
  isWay,
  makeRule,
  narrow,
  parseRule,
  seesAll,
  wholeGrant,
} from './grant.ts'

const paths = ['/', '/a', '/a/b', '/a/b/c', '/a/bc', '/b', '/b/a']
const path = fc.constantFrom(...paths)
const rule = fc.record({
  prefix: path,
  operations: fc.subarray([...accessOperations], { minLength: 1 }),
})
const caveat: fc.Arbitrary<Caveat> = fc.record(
  {
    rules: fc.array(rule, { maxLength: 4 }),
    deny: fc.array(path, { maxLength: 2 }),
    layer: fc.constantFrom('x', 'y'),
    maxBytes: fc.nat(5),
    maxFiles: fc.nat(5),
    notAfterMs: fc.nat(5),
  },
  { requiredKeys: [] },
)

/** What is allowed, said in another way: by the names of a path, one after the other. */
function oracle(caveats: readonly Caveat[], operation: AccessOperation, at: string): boolean {
  const above = at.split('/').map((_, i, all) => all.slice(0, i + 1).join('/') || '/')
  const has = (each: Caveat, wanted: AccessOperation): boolean =>
    !each.rules || each.rules.some((r) => above.includes(r.prefix) && r.operations.includes(wanted))
  const needs = operation === 'search' ? (['search', 'read'] as const) : [operation]
  return caveats.every(
    (each) => needs.every((n) => has(each, n)) && !each.deny?.some((d) => above.includes(d)),
  )
}

const grantOf = (caveats: readonly Caveat[]): Grant => caveats.reduce(narrow, wholeGrant)

describe('a grant', () => {
  it('allows exactly what each of its caveats allows', () => {
    fc.assert(
      fc.property(fc.array(caveat, { maxLength: 4 }), (caveats) => {
        const layers = new Set(caveats.flatMap(({ layer }) => layer ?? []))
        const grant = grantOf(caveats)
        for (const operation of accessOperations)
          for (const at of paths)
            expect(allows(grant, operation, at)).toBe(
              layers.size < 2 && oracle(caveats, operation, at),
            )
      }),
    )
  })

  it('narrowing never widens: no operation, path, layer, budget or time', () => {
    fc.assert(
      fc.property(fc.array(caveat, { maxLength: 3 }), caveat, (caveats, more) => {
        const [before, after] = [grantOf(caveats), grantOf([...caveats, more])]
        for (const operation of accessOperations)
          for (const at of paths)
            if (allows(after, operation, at)) expect(allows(before, operation, at)).toBe(true)
        for (const at of paths) if (isVisible(after, at)) expect(isVisible(before, at)).toBe(true)
        if (before.layer !== undefined) expect(after.layer).toBe(before.layer)
        for (const bound of ['maxBytes', 'maxFiles', 'notAfterMs'] as const)
          expect(after[bound] ?? Infinity).toBeLessThanOrEqual(before[bound] ?? Infinity)
      }),
    )
  })

  it('a path is on the way when something below it is allowed and it is not denied', () => {
    fc.assert(
      fc.property(fc.array(caveat, { maxLength: 3 }), (caveats) => {
        const grant = grantOf(caveats)
        const deep = [...paths, '/a/b/c/d', '/b/a/x']
        for (const at of paths) {
          const below = deep.filter(
            (each) => each !== at && each.startsWith(at === '/' ? '/' : `${at}/`),
          )
          const leads = below.some((each) => accessOperations.some((o) => has(grant, o, each)))
          const own = accessOperations.some((o) => has(grant, o, at))
          expect(isVisible(grant, at)).toBe(own || leads)
        }
      }),
    )
  })

  it('a prefix is matched by its segments', () => {
    const grant = grantOf([{ rules: [makeRule('/repo/src', ['read'])] }])
    expect(allows(grant, 'read', '/repo/src/a')).toBe(true)
    expect(allows(grant, 'read', '/repo/src2')).toBe(false)
    expect(isWay(grant, '/repo')).toBe(true)
    expect(isWay(grant, '/re')).toBe(false)
  })

  it('what is denied below spoils the whole', () => {
    const grant = grantOf([{ deny: ['/a/b'] }])
    expect(allowsAll(grant, 'commit', '/a')).toBe(false)
    expect(allowsAll(grant, 'commit', '/b')).toBe(true)
    expect(seesAll(grant)).toBe(false)
    expect(seesAll(wholeGrant)).toBe(true)
  })
})

/** Anything but search, which alone says nothing. */
function has(grant: Grant, operation: AccessOperation, at: string): boolean {
  return (
    grant.rules.some(
      ({ prefix, operations }) =>
        operations.includes(operation) &&
        (prefix === '/' || at === prefix || at.startsWith(`${prefix}/`)),
    ) && !grant.deny.some((d) => d === '/' || at === d || at.startsWith(`${d}/`))
  )
}

describe('a rule as it is typed', () => {
  it('a rule as it is typed is a path and operations, the colon last', () => {
    expect(parseRule('/re:po//src/:write,read')).toEqual({
      prefix: '/re:po/src',
      operations: ['read', 'write'],
    })
  })

  it.each(['/a', ':read', 'a:read', '/a:', '/a:fly', '/a:search', '/a/../b:read'])(
    '%s is none',
    (text) => expect(() => parseRule(text)).toThrow(),
  )
})
