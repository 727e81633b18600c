import { diffPaths, type PathChange } from '@cairn/core'
import { readTree, type NodeEntry } from '@cairn/core/testing'
import { describe, expect, it } from 'vitest'
import { plainOf, sameAttributes } from './plain-tree.ts'
import { checkProperty } from './property.ts'
import { isStill, movingScenarios, play, type Scenario, stillScenarios } from './scenario.ts'

type Tree = ReadonlyMap<string, NodeEntry>

async function diffOf(
  scenario: Scenario,
): Promise<{ before: Tree; after: Tree; changes: readonly PathChange[] }> {
  const { stores, base, layer } = await play(scenario)
  return {
    before: await readTree(stores, base),
    after: await readTree(stores, layer),
    changes: await diffPaths(stores.nodes, base, layer),
  }
}

/** The diff that you would make with two listings side by side. */
function compareListings(before: Tree, after: Tree): readonly string[] {
  const changes: string[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const kind = compareEntries(before.get(path), after.get(path))
    if (kind) changes.push(`${kind} ${path}`)
  }
  return changes.sort()
}

function compareEntries(was: NodeEntry | undefined, is: NodeEntry | undefined): string | undefined {
  if (!was || !is) return was ? 'deleted' : 'added'
  const [before, after] = [plainOf(was.inode, was.bytes), plainOf(is.inode, is.bytes)]
  if (before.kind !== after.kind) return 'type'
  if (before.content !== after.content) return 'modified'
  const touched = was.inode.mtime.sec !== is.inode.mtime.sec && after.kind !== 'directory'
  return touched || !sameAttributes(before, after) ? 'mode' : undefined
}

/** Where an entry came from: its directory's origin, unless a rename says otherwise. */
function originOf(path: string, changes: ReadonlyMap<string, PathChange>): string | undefined {
  if (path === '') return ''
  const change = changes.get(path)
  if (change?.kind === 'added' || change?.kind === 'type') return undefined
  if (change?.from) return change.from.join('/')
  const [, above = '', name] = /^(?:(.*)\/)?([^/]*)$/.exec(path)!
  const origin = originOf(above, changes)
  return origin === undefined ? undefined : origin === '' ? name : `${origin}/${name}`
}

describe('diff oracle', () => {
  it('a diff without renames and hard links is the difference of two listings', async () => {
    await checkProperty('diff by path', 120, stillScenarios, async (scenario) => {
      if (!isStill(scenario)) return
      const { before, after, changes } = await diffOf(scenario)
      const found = changes.map(({ kind, path }) => `${kind} ${path.join('/')}`)
      expect(found.sort()).toEqual(compareListings(before, after))
    })
  })

  it('what it does not list is where it was, or below what moved, and the same', async () => {
    await checkProperty('diff silence', 120, movingScenarios, async (scenario) => {
      const { before, after, changes } = await diffOf(scenario)
      const living = changes.filter(({ kind }) => kind !== 'deleted')
      const byPath = new Map(living.map((change) => [change.path.join('/'), change]))
      expect(byPath.size).toBe(living.length)
      for (const [path, is] of after) {
        const change = byPath.get(path)
        if (change && (change.kind !== 'renamed' || change.edited)) continue
        const was = before.get(originOf(path, byPath) ?? 'nowhere')
        expect(was && plainOf(was.inode, was.bytes), path).toEqual(plainOf(is.inode, is.bytes))
      }
    })
  })
})
