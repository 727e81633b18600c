import { describe, expect, it } from 'vitest'
import { findSharedNames, nameRemedy } from './unique-names.ts'

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
