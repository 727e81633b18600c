import { describe, expect, it } from 'vitest'
import { parseProfile } from './parse-profile.ts'
import { builtInProfiles, compileProfile, type PathClass } from './profile.ts'

const base = { name: 'test', local: [], scratch: [], durable: [] }

describe('the classes that a profile gives', () => {
  it.each<[patterns: string[], path: string, of: PathClass]>([
    [['node_modules'], 'node_modules', 'local'],
    [['node_modules'], 'a/b/node_modules/c/d', 'local'],
    [['node_modules'], 'a/node_modules2', 'durable'],
    [['**/node_modules/**'], 'a/node_modules', 'local'],
    [['target/**'], 'a/target/debug', 'local'],
    [['/target'], 'target/debug', 'local'],
    [['/target'], 'a/target', 'durable'],
    [['packages/a/dist'], 'packages/a/dist/x', 'local'],
    [['packages/a/dist'], 'x/packages/a/dist', 'durable'],
    [['**/.next/cache/**'], 'web/.next/cache', 'local'],
    [['**/.next/cache/**'], 'web/.next', 'durable'],
    [['build-*'], 'build-x86/o', 'local'],
    [['a.b'], 'axb', 'durable'],
  ])('%j: the class of %s is %s', (local, path, of) => {
    expect(compileProfile({ ...base, local })!(path.split('/'))).toBe(of)
  })

  it('let a deeper pattern say otherwise', () => {
    const profile = { ...base, local: ['node_modules'], durable: ['node_modules/mine'] }
    const classOf = compileProfile({ ...profile, scratch: ['.cache'] })!
    expect(classOf(['node_modules', 'mine', 'src'])).toBe('durable')
    expect(classOf(['node_modules', '.cache'])).toBe('scratch')
    expect(classOf(['node_modules', 'theirs'])).toBe('local')
  })

  it('the classes that a profile gives are all durable where nothing says otherwise', () => {
    expect(compileProfile(builtInProfiles.find(({ name }) => name === 'none')!)).toBeUndefined()
  })
})

describe('a profile file', () => {
  it('profile files of drive9 are read unchanged', () => {
    const text =
      'first\n[local]\n# why\n**/target/**\n[remote]\n.git\n[pack]\n/\n[append-log]\n**/*-wal\n'
    expect(parseProfile('mine', text)).toEqual({
      name: 'mine',
      local: ['first', '**/target/**'],
      scratch: [],
      durable: ['.git'],
    })
  })

  it('an unknown section is refused, and the error names its line', () => {
    expect(() => parseProfile('mine', '[local]\na\n[locl]\n')).toThrow(
      'cannot read profile mine, line 3: there is no section [locl]',
    )
  })
})
