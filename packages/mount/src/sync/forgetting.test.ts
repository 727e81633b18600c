import type { Inode, Op } from '@cairn/core'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { create, time } from '../../test/server-tree.ts'
import { Forgetting } from './forgetting.ts'
import { Image } from '../image/image.ts'

const [a, b, f] = [10, 11, 12] as [Ino, Ino, Ino]
const inode = (kind: Inode['kind'], parent: Ino, name: string): Inode =>
  ({ kind, nlink: 1, home: { parent, name: name as Name }, content: undefined }) as Inode

/** An image with `/a/f` and `/b`, whose budget is no inode at all. */
describe('what is not used for long', () => {
  let image: Image
  /** What the kernel was told to look up again. */
  let expired: string[]
  let dropped: Ino[]
  let pending: Set<Ino>
  let contested: Set<Ino>
  let told: Set<Ino>
  let atRest: boolean
  let canExpire: boolean
  let wasRead: boolean

  beforeEach(() => {
    vi.useFakeTimers()
    ;[expired, dropped] = [[], []]
    ;[pending, contested, told] = [new Set(), new Set(), new Set([a, b, f])]
    ;[atRest, canExpire, wasRead] = [true, true, false]
    image = new Image(() => forgetting.note())
    const forgetting = new Forgetting({
      image,
      contents: { drop: (ino) => dropped.push(ino), wasRead: () => wasRead },
      loader: {
        get isAtRest() {
          return atRest
        },
        noteDropped: () => undefined,
      },
      nodes: { root: rootIno, isKnown: (ino) => told.has(ino), noteDropped: () => undefined },
      caches: {
        bytes: (ino) => expired.push(`bytes of ${ino}`),
        canExpire: () => canExpire,
        expire: (parent, name) => expired.push(`${parent}/${name}`),
      },
      contested: { has: (ino) => contested.has(ino!) },
      inodesMax: 0,
      isPending: (ino) => pending.has(ino),
    })
    const links = [] as const
    const entry = (parent: Ino, name: string, ino: Ino, kind: Inode['kind']) => ({
      name: name as Name,
      ino,
      links,
      outdated: false,
      inode: inode(kind, parent, name),
    })
    image.installDirectory(rootIno, [
      entry(rootIno, 'a', a, 'directory'),
      entry(rootIno, 'b', b, 'directory'),
    ])
    image.installDirectory(a, [entry(a, 'f', f, 'file')])
    image.noteAbsent(a, 'no' as Name)
    vi.runAllTimers()
  })
  afterEach(() => vi.useRealTimers())

  /** Others come, until there are too many. They are dropped the next time. */
  function grow(): void {
    for (let ino = 1000 + image.clock * 100; vi.getTimerCount() === 0; ino++)
      image.install({ ino: ino as Ino, inode: inode('file', 80 as Ino, `${ino}`), links: [] })
  }

  function growAndForget(): void {
    grow()
    vi.runAllTimers()
  }

  /** The directories that are still known. */
  function known(): Ino[] {
    return [rootIno, a].filter((ino) => image.knowsDirectory(ino))
  }

  it('what is not used for long is dropped with its inodes, and the kernel looks up its names again', () => {
    growAndForget()
    expect(known()).toEqual([rootIno])
    expect([image.knows(a), image.knows(b)]).toEqual([true, true])
    expect([expired, dropped]).toEqual([[`${a}/f`, `${a}/no`], [f]])
    expect(() => image.inode(f)).toThrow('not loaded')
  })

  it('the directory above what was dropped goes, too, when there is more again', () => {
    growAndForget()
    growAndForget()
    expect([known(), image.knows(a)]).toEqual([[], false])
  })

  it('names that the kernel does not know are not told', () => {
    told = new Set([a])
    growAndForget()
    expect(expired).toEqual([`${a}/no`])
  })

  it('the kernel drops the pages that it read, because a write may have to know of them', () => {
    wasRead = true
    growAndForget()
    expect(expired).toEqual([`${a}/f`, `${a}/no`, `bytes of ${f}`])
  })

  it('nothing is told of a directory that the kernel has forgotten', () => {
    told = new Set()
    growAndForget()
    expect([known(), expired]).toEqual([[rootIno], []])
  })

  it.each<[string, () => void]>([
    ['it has a change that is not in the log', () => pending.add(a)],
    ['it was made by a change that is not in the log', () => pending.add(rootIno)],
    ['others change names in it', () => contested.add(a)],
    ['it was used meanwhile', () => image.child(a, 'f' as Name)],
    ['it may be needed for what is being loaded', () => (atRest = false)],
  ])('stays where %s', (_why, make) => {
    grow()
    make()
    vi.runAllTimers()
    expect(known()).toContain(a)
  })

  it('stays where the kernel knows a directory in it, and would have to drop the name', () => {
    canExpire = false
    growAndForget()
    growAndForget()
    expect(known()).toEqual([rootIno])
  })

  it('a change of what is gone misses it first', () => {
    growAndForget()
    const chmod: Op = { type: 'setattr', time, ino: f, mode: 0o600 }
    expect(() => image.plan([chmod])).toThrow('not loaded')
    expect(() => image.plan([{ ...create('g', 13), parent: a } as Op])).toThrow('not loaded')
  })
})
