import { formatHash, fromByteString, type Hash, toByteString } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../../test/refusal.ts'
import { entriesOf, keyOf, TreeFixture, weigh, listOf } from '../../test/tree-fixture.ts'
import { sha256 } from '../../test/ports.ts'
import { MemoryNodeStore } from '../testing/memory-node-store.ts'
import { applyEdits } from './apply.ts'
import { encodeChild } from './child-ref.ts'
import { diff } from './diff.ts'
import { encodeNode } from './encode.ts'
import { findValue, range, rank } from './lookup.ts'
import { Nodes } from './nodes.ts'
import { scan } from './scan.ts'

type Walk = (nodes: Nodes, root: Hash, key: Uint8Array) => Promise<unknown>

/** Everything that goes down a tree. The key is one to go to, for those that do not go everywhere. */
const walks: Readonly<Record<string, Walk>> = {
  find: (nodes, root, key) => nodes.read(() => findValue(nodes, root, key)),
  rank: (nodes, root, key) => nodes.read(() => rank(nodes, root, key)),
  range: (nodes, root, key) =>
    nodes.read(() => [...range(nodes, root, key, Uint8Array.of(255))].length),
  scan: (nodes, root) => listOf(scan(nodes, root)),
  'scan from a key': (nodes, root, key) => listOf(scan(nodes, root, key)),
  'diff from it': (nodes, root) => listOf(diff(nodes, root, nodes.emptyRoot)),
  'diff to it': (nodes, root) => listOf(diff(nodes, nodes.emptyRoot, root)),
  edit: (nodes, root, key) => applyEdits(nodes, root, [{ key, value: Uint8Array.of(1) }], weigh),
  'remove a key': (nodes, root, key) => applyEdits(nodes, root, [{ key, value: undefined }], weigh),
}

describe.each(Object.entries(walks))('%s on a damaged store', (_, walk) => {
  /** A tree of two levels, with the leaf that holds key 1000. */
  async function build(): Promise<{ tree: TreeFixture; root: Hash; leaf: Hash }> {
    const tree = new TreeFixture()
    const root = await tree.build(entriesOf(2000))
    const top = tree.nodes.get(root)
    return { tree, root, leaf: top.childHashAt(top.lowerBound(keyOf(1000))) }
  }

  it('a node with one bit changed is corrupt, by its id', async () => {
    const { tree, root, leaf } = await build()
    const bytes = tree.store.nodes.get(leaf)!
    for (const at of [0, 1, 2, 6, bytes.length >> 1, bytes.length - 1]) {
      const damaged = bytes.slice()
      damaged[at]! ^= 4
      tree.store.nodes.set(leaf, damaged)
      expect(await refusalOf(() => walk(tree.reopen().nodes, root, keyOf(1000)))).toEqual({
        code: 'corrupt',
        subject: formatHash(leaf),
      })
    }
  })

  it('a node cut short, or of no bytes, is corrupt, by its id', async () => {
    const { tree, root, leaf } = await build()
    const bytes = tree.store.nodes.get(leaf)!
    for (const length of [0, 5, bytes.length - 1]) {
      tree.store.nodes.set(leaf, bytes.slice(0, length))
      expect(await refusalOf(() => walk(tree.reopen().nodes, root, keyOf(1000)))).toEqual({
        code: 'corrupt',
        subject: formatHash(leaf),
      })
    }
  })

  it('a node in the place of another is corrupt', async () => {
    const { tree, root, leaf } = await build()
    tree.store.nodes.set(leaf, tree.store.nodes.get(root)!)
    expect((await refusalOf(() => walk(tree.reopen().nodes, root, keyOf(1000))))?.code).toBe(
      'corrupt',
    )
  })

  it('a node that is gone is missing, by its id; so is a root', async () => {
    const { tree, root, leaf } = await build()
    for (const gone of [leaf, root]) {
      tree.store.nodes.delete(gone)
      expect(await refusalOf(() => walk(tree.reopen().nodes, root, keyOf(1000)))).toEqual({
        code: 'node_missing',
        subject: formatHash(gone),
      })
    }
  })
})

/** Trees with chosen hashes, which would need SHA-256 preimages in reality. */
class Forgery {
  readonly #store = new MemoryNodeStore()
  readonly #names = new Map<string, Hash>()
  readonly nodes = new Nodes({
    store: this.#store,
    hash: (bytes) => this.#names.get(toByteString(bytes)) ?? sha256(bytes),
  })

  leaf(name: string, ...keys: string[]): string {
    const value = Uint8Array.of(1)
    return this.#add(
      name,
      encodeNode(
        0,
        keys.map((key) => ({ key: fromByteString(key), value })),
      ),
    )
  }

  /** Children by the key that they are said to end with. */
  inner(name: string, level: number, children: Readonly<Record<string, string>>): string {
    const entries = Object.entries(children).map(([key, child]) => ({
      key: fromByteString(key),
      value: encodeChild({ hash: hashOf(child), count: 1, weight: 1 }),
    }))
    return this.#add(name, encodeNode(level, entries))
  }

  #add(name: string, bytes: Uint8Array): string {
    this.#names.set(toByteString(bytes), hashOf(name))
    this.#store.nodes.set(hashOf(name), bytes)
    return name
  }
}

function hashOf(name: string): Hash {
  return name.padEnd(32, '.') as Hash
}

interface ForgedTree {
  readonly forge: (forgery: Forgery) => string
  /** The child that does not fit, and a key on the way to it. */
  readonly bad: string
  readonly key: string
}

const forgedTrees: Readonly<Record<string, ForgedTree>> = {
  'a node that is its own child': {
    forge: (f) => f.inner('loop', 1, { k: 'loop' }),
    bad: 'loop',
    key: 'k',
  },
  'two nodes that are each other’s child': {
    forge: (f) => {
      f.inner('a', 1, { k: 'b' })
      return f.inner('b', 2, { k: 'a' })
    },
    bad: 'b',
    key: 'k',
  },
  'a child two levels below': {
    forge: (f) => f.inner('root', 2, { k: f.leaf('leaf', 'k') }),
    bad: 'leaf',
    key: 'k',
  },
  'a child above its parent': {
    forge: (f) => {
      f.inner('high', 3, { k: f.leaf('leaf', 'k') })
      return f.inner('root', 1, { k: 'high' })
    },
    bad: 'high',
    key: 'k',
  },
  'an empty child': {
    forge: (f) => f.inner('root', 1, { k: f.leaf('empty') }),
    bad: 'empty',
    key: 'k',
  },
  'a child that ends before its key': {
    forge: (f) => f.inner('root', 1, { k: f.leaf('leaf', 'a', 'j') }),
    bad: 'leaf',
    key: 'b',
  },
  'a child that ends after its key': {
    forge: (f) => f.inner('root', 1, { k: f.leaf('leaf', 'a', 'k', 'l') }),
    bad: 'leaf',
    key: 'a',
  },
  'the same child twice': {
    forge: (f) => {
      f.leaf('leaf', 'b')
      return f.inner('root', 1, { b: 'leaf', c: 'leaf' })
    },
    bad: 'leaf',
    key: 'c',
  },
  'a child that begins before its left neighbour ends': {
    forge: (f) => f.inner('root', 1, { m: f.leaf('left', 'm'), z: f.leaf('right', 'b', 'z') }),
    bad: 'right',
    key: 'y',
  },
  'a child that begins where its left neighbour ends': {
    forge: (f) => f.inner('root', 1, { m: f.leaf('left', 'm'), z: f.leaf('right', 'm', 'z') }),
    bad: 'right',
    key: 'y',
  },
  'a grandchild, the leftmost of its parent, that begins too early': {
    forge: (f) => {
      const left = f.inner('left', 1, { m: f.leaf('left leaf', 'm') })
      const right = f.inner('right', 1, { y: f.leaf('early', 'b', 'y'), z: f.leaf('last', 'z') })
      return f.inner('root', 2, { m: left, z: right })
    },
    bad: 'early',
    key: 'n',
  },
}

describe.each(Object.entries(forgedTrees))('%s', (_, { forge, bad, key }) => {
  it.each(Object.entries(walks))('%s: malformed, by the id of the child', async (_walk, walk) => {
    const forgery = new Forgery()
    const root = hashOf(forge(forgery))
    expect(await refusalOf(() => walk(forgery.nodes, root, fromByteString(key)))).toEqual({
      code: 'malformed',
      subject: formatHash(hashOf(bad)),
    })
  })
})

describe('a small tree whose walk would never end', () => {
  // Each node holds those with lower keys again, as the leftmost grandchildren of its children, where only a
  // key further up tells that they begin too early. 900 nodes would make a walk of 10^9 entries.
  it('a small tree whose walk would never end is refused at the first step back', async () => {
    const forgery = new Forgery()
    const keys = Array.from({ length: 60 }, (_, i) => `k${String(i).padStart(2, '0')}`)
    for (const key of keys) forgery.leaf(`0${key}`, key)
    for (let level = 2; level <= 14; level += 2)
      keys.forEach((key, i) => {
        forgery.inner(`${level - 1}${key}`, level - 1, { [key]: `${level - 2}${key}` })
        const children = keys.slice(0, i + 1).map((each) => [each, `${level - 1}${each}`] as const)
        forgery.inner(`${level}${key}`, level, Object.fromEntries(children))
      })
    const root = hashOf(`14${keys.at(-1)}`)
    expect(await refusalOf(() => listOf(scan(forgery.nodes, root)))).toEqual({
      code: 'malformed',
      subject: formatHash(hashOf('12k01')),
    })
  })
})
