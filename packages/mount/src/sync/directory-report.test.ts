import { DirectorySet, type Op } from '@cairn/core'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { describeDirectories } from '../describe-directories.ts'
import { wholeTree } from '../testing/whole-tree.ts'
import { reportDirectories } from './directory-report.ts'
import type { SharingClient } from './sharing.ts'

const image = wholeTree()
const inoOf = (index: number): Ino => (2 + index) as Ino
for (let index = 0; index < 30; index++) {
  const kind = {
    kind: 'directory',
    mode: 0o755,
    uid: 0,
    gid: 0,
    rdev: 0,
    target: undefined,
  } as const
  const time = { sec: 1, nsec: 0 }
  const name = `d${index}` as Name
  const op: Op = { type: 'create', time, parent: rootIno, name, ino: inoOf(index), ...kind }
  image.absorb(image.plan([op]))
}

function sharingWith(hasRest: boolean): SharingClient {
  const mine = new DirectorySet(hasRest)
  return { mine, asking: [], givenBack: new Map() } as unknown as SharingClient
}

describe('the report on directories', () => {
  it('a mount that is alone holds all of them', () => {
    const report = reportDirectories(image, sharingWith(true))
    expect(report).toEqual({ rest: 'held', held: 0, shared: 0, waiting: 0, named: [] })
    expect(describeDirectories(report)).toEqual(['all held'])
  })

  it('names those that wait, are shared and are held, and says why', () => {
    const sharing = sharingWith(false)
    for (const index of [0, 1]) (sharing.mine as DirectorySet).add(inoOf(index))
    const given = sharing.givenBack as Map<Ino, 'asked' | 'contested'>
    given.set(inoOf(2), 'asked').set(inoOf(3), 'contested')
    Object.assign(sharing, { asking: [{ type: 'claim', inos: [inoOf(4)] }] })
    expect(describeDirectories(reportDirectories(image, sharing))).toEqual([
      '2 held, 2 shared, 1 waiting, all others shared',
      '/d4: waiting; a change here waits until other clients have given it back and forgotten it',
      '/d3: shared; another client works there, too, so the server decides',
      '/d2: shared; another client looked into it, or changed it',
      '/d1: held; changes are acknowledged here',
      '/d0: held; changes are acknowledged here',
    ])
  })

  it('names no more than 20, and one that the mount does not know by its number', () => {
    const sharing = sharingWith(false)
    for (let index = 0; index < 30; index++) (sharing.mine as DirectorySet).add(inoOf(index))
    ;(sharing.mine as DirectorySet).add(999 as Ino)
    const { held, named } = reportDirectories(image, sharing)
    expect([held, named.length, named[0]?.path]).toEqual([31, 20, 'inode 999'])
  })
})
