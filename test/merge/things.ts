import type { Snapshot } from '@cairn/core'
import { readTree } from '@cairn/core/testing'
import { type Plain, plainOf } from './plain-tree.ts'
import type { Played } from './scenario.ts'

/** A name in a directory: `number/name`. */
export type Place = `${number}/${string}`

/** An inode with all its names. */
export interface Thing extends Plain {
  readonly ino: number
  /** In the order of their directories' numbers. */
  readonly places: readonly Place[]
  /** Where these places are, in the same order. */
  readonly paths: readonly string[]
}

/** One side, by inode number. */
export type Things = ReadonlyMap<number, Thing>

export const rootNumber = 1

export async function readThings(played: Played, snapshot: Snapshot): Promise<Things> {
  const tree = await readTree(played.stores, snapshot)
  const named: { ino: number; place: Place; path: string }[] = []
  for (const [path, { ino }] of tree) {
    if (path === '') continue
    const [, above = '', name] = /^(?:(.*)\/)?([^/]*)$/.exec(path)!
    named.push({ ino, path, place: `${tree.get(above)!.ino as number}/${name!}` })
  }
  named.sort((a, b) => parentOf(a.place) - parentOf(b.place) || (a.place < b.place ? -1 : 1))
  const things = new Map<number, Thing>()
  for (const { ino, inode, bytes } of tree.values()) {
    const names = named.filter((name) => name.ino === ino)
    const places = names.map(({ place }) => place)
    const paths = ino === rootNumber ? [''] : names.map(({ path }) => path)
    things.set(ino, { ...plainOf(inode, bytes), ino, places, paths })
  }
  return things
}

export function parentOf(place: Place): number {
  return Number(place.slice(0, place.indexOf('/')))
}

export function nameOf(place: Place): string {
  return place.slice(place.indexOf('/') + 1)
}
