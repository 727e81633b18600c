import { describe, expect, it } from 'vitest'
import { findSharedDoorNames, findSharedNames, nameRemedy } from './unique-names.ts'

const core = { path: 'packages/core/src/tree/nodes.ts', text: '\nexport class Nodes {}' }
const mount = { path: 'packages/mount/src/kernel/nodes.ts', text: 'export interface Nodes {}' }

describe('findSharedNames', () => {
  it('names a type that two packages export, with both places and the remedy', () => {
    expect(findSharedNames([core, mount])).toEqual([
      `Nodes is exported by ${core.path}:2 and ${mount.path}:1. ${nameRemedy}`,
    ])
  })

  it('accepts the same name in one package, in a test, and a name that is not exported', () => {
    const files = [
      core,
      { ...core, path: 'packages/core/src/layers/nodes.ts' },
      { ...mount, path: 'packages/mount/src/kernel/nodes.test.ts' },
      { ...mount, text: 'interface Nodes {}' },
    ]
    expect(findSharedNames(files)).toEqual([])
  })
})

describe('findSharedDoorNames', () => {
  const doorOf = (name: string, text: string) => ({ path: `packages/${name}/src/index.ts`, text })
  const declared = doorOf('core', "export {\n  pathOf,\n  type Resolved,\n} from './resolve.ts'\n")

  it('names a function that the doors of two packages declare', () => {
    const other = doorOf('sdk', "export { encode, find as pathOf } from './path.ts'\n")
    expect(findSharedDoorNames([declared, other])).toEqual([
      `pathOf is exported by ${declared.path} and ${other.path}. ${nameRemedy}`,
    ])
  })

  it('accepts what a door passes on from another package', () => {
    const passedOn = doorOf('sdk', "export { pathOf } from '@cairn/core'\n")
    expect(findSharedDoorNames([declared, passedOn])).toEqual([])
  })
})
