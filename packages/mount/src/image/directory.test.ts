import type { Ino, Name } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Directory, type Listed } from './directory.ts'

const entry = (ino: number): { ino: Ino; kind: 'file' } => ({ ino: ino as Ino, kind: 'file' })

interface Change {
  readonly name: string
  readonly isAdded: boolean
}

const changes = fc.array(
  fc.record({ name: fc.nat(60).map((n) => `n${n}`), isAdded: fc.boolean() }),
  { maxLength: 150 },
)
const pieces = fc.array(fc.record({ count: fc.nat(10), changes }), { maxLength: 10 })

/** A directory beside what is in it, and what was taken away since the listing began. */
class Watched {
  readonly directory: Directory
  readonly there = new Set<string>()
  readonly left = new Set<string>()

  constructor(positionOf?: (name: Name) => number) {
    this.directory = new Directory(positionOf)
  }

  play(all: readonly Change[]): void {
    for (const { name, isAdded } of all) {
      if (isAdded) this.directory.set(name as Name, entry(1))
      else this.directory.delete(name as Name)
      if (isAdded) this.there.add(name)
      else if (this.there.delete(name)) this.left.add(name)
    }
  }

  /** The next names of a listing. */
  take(after: number, count: number): Listed[] {
    return [...this.directory.after(after)].slice(0, count)
  }
}

describe('a directory', () => {
  it.each([
    ['listed in pieces shows every name that stayed, once, in order of position', undefined],
    ['the same where many names have the same hash', (name: Name) => 3 + (name.length % 2)],
  ])('%s', (_title, positionOf) => {
    fc.assert(
      fc.property(changes, pieces, (before, listing) => {
        const watched = new Watched(positionOf)
        watched.play(before)
        watched.left.clear()
        const stays = [...watched.there]
        const seen: Listed[] = []
        for (const { count, changes: meanwhile } of [...listing, { count: 1000, changes: [] }]) {
          seen.push(...watched.take(seen.at(-1)?.position ?? 0, count))
          watched.play(meanwhile)
        }
        const positions = seen.map(({ position }) => position)
        expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
        for (const name of stays.filter((one) => !watched.left.has(one)))
          expect(seen.filter((one) => one.name === name)).toHaveLength(1)
      }),
      { seed: 1, numRuns: 300 },
    )
  })

  it('holds exactly what was put and not taken away', () => {
    fc.assert(
      fc.property(changes, (all) => {
        const watched = new Watched()
        watched.play(all)
        const { directory, there } = watched
        expect(directory.size).toBe(there.size)
        expect([...directory].map(({ name }) => name).sort()).toEqual([...there].sort())
      }),
      { seed: 1, numRuns: 300 },
    )
  })

  it('a name that leads elsewhere keeps its position', () => {
    const directory = new Directory()
    directory.set('a' as Name, entry(1))
    directory.set('b' as Name, entry(2))
    const [before] = [...directory.after(0)].filter(({ name }) => name === 'a')
    directory.set('a' as Name, entry(3))
    const [now] = [...directory.after(0)].filter(({ name }) => name === 'a')
    expect(now).toEqual({ ...before, ino: 3 })
  })

  it('a name that comes back, and one in a directory that is loaded anew, has the position it had', () => {
    const [directory, loaded] = [new Directory(), new Directory()]
    for (const name of ['a', 'b', 'c']) directory.set(name as Name, entry(1))
    const before = [...directory.after(0)]
    directory.delete('b' as Name)
    directory.set('b' as Name, entry(1))
    for (const name of ['c', 'b', 'a']) loaded.set(name as Name, entry(1))
    expect([[...directory.after(0)], [...loaded.after(0)]]).toEqual([before, before])
  })

  it('100,000 names have 100,000 positions', () => {
    const directory = new Directory()
    for (let i = 0; i < 100_000; i++) directory.set(`file-${i}.txt` as Name, entry(1))
    expect(new Set([...directory.after(0)].map(({ position }) => position)).size).toBe(100_000)
  })
})
