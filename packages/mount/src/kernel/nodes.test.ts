import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Inode } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FuseIo, loadFuseIo } from '../fuse/native.ts'
import { Image } from '../image/image.ts'
import { ImageMiss } from '../image/miss.ts'
import { KernelNodes } from './nodes.ts'
import { swapOwners } from './owners.ts'
import { ToldFile } from './told-file.ts'

const io = await loadFuseIo()
const full = { ...io, mapFile: () => -28 }
const uncontested = { has: () => false }
const current = { isForgetting: () => false }

describe('inodes that the kernel knows', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-nodes-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  /** The table of the next process: the one before ended without a goodbye. */
  function begin(disk: FuseIo = io): KernelNodes {
    const owners = swapOwners(undefined, undefined)
    return new KernelNodes(new Image(), owners, new ToldFile(directory, disk), uncontested, current)
  }

  /** The next process, which has loaded some inodes again. */
  function beginWith(...inodes: number[]): KernelNodes {
    const image = new Image()
    const inode = { kind: 'file' } as Inode
    for (const ino of inodes) image.install({ ino: ino as Ino, inode, links: [] })
    const told = new ToldFile(directory, io)
    return new KernelNodes(image, swapOwners(undefined, undefined), told, uncontested, current)
  }

  function tell(nodes: KernelNodes, ...inodes: number[]): void {
    for (const ino of inodes) nodes.count(ino as Ino)
  }

  function known(nodes: KernelNodes): number[] {
    return [...nodes.known()].sort((a, b) => a - b)
  }

  /** The inodes whose attributes are asked for anew. */
  function forgotten(nodes: KernelNodes): number[] {
    const inodes: number[] = []
    nodes.forgetUnknownAttributes({
      attributes: (ino) => inodes.push(ino),
      bytes: () => undefined,
      entry: () => undefined,
      isForgetting: () => false,
      forgotten: () => Promise.resolve(),
      grown: () => undefined,
      lookedUp: () => undefined,
      expire: () => undefined,
      canExpire: () => true,
      telling: () => Promise.resolve(),
      filesSettled: () => Promise.resolve(),
      settled: () => Promise.resolve(),
    })
    return inodes
  }

  it('an inode that the kernel knows is known to the next process, and to the one after it', () => {
    tell(begin(), 5, 7, 5)
    tell(begin(), 9)
    expect(known(begin())).toEqual([5, 7, 9])
  })

  it('its attributes are forgotten once, and not those that were loaded since', () => {
    tell(begin(), 5, 7)
    const nodes = beginWith(9)
    tell(nodes, 7, 9)
    expect(forgotten(nodes)).toEqual([5, 7])
    expect(forgotten(nodes)).toEqual([])
  })

  it('an inode that the kernel knows and the mount dropped: its attributes are forgotten, and once more after each drop', () => {
    const nodes = begin()
    tell(nodes, 5)
    expect(forgotten(nodes)).toEqual([5])
    nodes.noteDropped()
    expect(forgotten(nodes)).toEqual([5])
    nodes.forget(5, 1)
    nodes.noteDropped()
    expect(forgotten(nodes)).toEqual([])
  })

  it('an inode told by both processes is forgotten when the kernel forgets it', () => {
    tell(begin(), 5, 5)
    const nodes = begin()
    tell(nodes, 5)
    nodes.forget(5, 3)
    expect(known(nodes)).toEqual([])
  })

  it.each([2047, 2048, 2049, 50_000])('all of %i inodes', (count) => {
    const inodes = Array.from({ length: count }, (_, index) => index + 2)
    tell(begin(), ...inodes)
    expect(known(begin())).toEqual(inodes)
  })

  it('what the kernel looks at and forgets again and again takes no room', () => {
    const nodes = begin()
    tell(nodes, 2)
    for (let ino = 3; ino < 100_000; ino++) {
      tell(nodes, ino)
      nodes.forget(ino, 1)
    }
    tell(nodes, 7)
    const after = known(begin())
    expect(after).toContain(2)
    expect(after).toContain(7)
    expect(after.length).toBeLessThanOrEqual(2048)
  })

  it('a full disk keeps the earlier notes, and lookups still work', () => {
    tell(begin(), 5)
    tell(begin(full), 7)
    expect(known(begin())).toEqual([5])
  })
})

describe('a file that was replaced', () => {
  const file = 5 as Ino
  let directory: string
  let nodes: KernelNodes

  let image: Image

  function begin(): KernelNodes {
    image = new Image()
    const told = new ToldFile(directory, io)
    return new KernelNodes(image, swapOwners(undefined, undefined), told, uncontested, current)
  }

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-nodes-'))
    nodes = begin()
    nodes.count(file)
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('a file that was replaced has another number in the kernel, and the old one is stale', () => {
    expect(nodes.replace(file)).toBe(true)
    const nodeid = nodes.nodeid(file)
    expect([nodes.ino(nodeid), nodes.inoOf(file)]).toEqual([file, file])
    expect(() => nodes.ino(file)).toThrow('ESTALE')
  })

  it('replaced directories stay what they are', () => {
    const folder = 8 as Ino
    nodes.count(folder)
    image.install({ ino: file, inode: { kind: 'file' } as Inode, links: [] })
    image.install({ ino: folder, inode: { kind: 'directory' } as Inode, links: [] })
    nodes.replaceAll()
    expect(() => nodes.ino(file)).toThrow('ESTALE')
    expect(nodes.ino(folder)).toBe(folder)
  })

  it('a file that was replaced is not described to a kernel that has yet to drop its old pages', () => {
    image.install({ ino: file, inode: { kind: 'file' } as Inode, links: [] })
    current.isForgetting = () => true
    try {
      expect(() => nodes.attributed(file)).toThrow(new ImageMiss('pages', file))
      expect(() => nodes.entry(file)).toThrow(new ImageMiss('pages', file))
    } finally {
      current.isForgetting = () => false
    }
  })

  it('before the kernel was told of it keeps its number', () => {
    const other = 6 as Ino
    expect(nodes.replace(other)).toBe(true)
    expect(nodes.nodeid(other)).toBe(other)
  })

  it('a replaced file without a name that the kernel has forgotten is not known to the next process', () => {
    image.install({ ino: file, inode: { kind: 'file', nlink: 0 } as Inode, links: [] })
    nodes.forget(file, 1)
    expect(begin().isKnown(file)).toBe(false)
  })

  it('a file that was replaced is known until the kernel has forgotten all of it that may be used', () => {
    nodes.replace(file)
    nodes.count(file)
    nodes.forget(file, 1)
    expect(nodes.isKnown(file)).toBe(true)
    expect([...nodes.known()]).toEqual([file])
    nodes.forget(nodes.nodeid(file), 1)
    expect(nodes.isKnown(file)).toBe(false)
  })

  it.each([
    ['looked up since', () => nodes.count(file)],
    ['never looked up', () => undefined],
    [
      'never looked up, when the note of known inodes is full',
      () => {
        for (let ino = 10; ino < 5000; ino++) nodes.count(ino as Ino)
      },
    ],
  ])('keeps its number in the next process, %s', (_, meanwhile) => {
    nodes.replace(file)
    meanwhile()
    const next = begin()
    expect(next.nodeid(file)).toBe(nodes.nodeid(file))
    expect(() => next.ino(file)).toThrow('ESTALE')
  })

  it('a file that was replaced too often cannot be told apart any more', () => {
    let times = 0
    for (; nodes.replace(file); times++) nodes.count(file)
    expect(times).toBe(4095)
    expect(nodes.nodeid(file)).toBeLessThan(2 ** 52)
    expect(nodes.ino(nodes.nodeid(file))).toBe(file)
  })
})
