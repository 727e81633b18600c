import type { Changes } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'

/** A name of a directory, whatever it leads to. */
export interface ChangedName {
  readonly parent: Ino
  readonly name: Name
}

export interface ChangedThings {
  /** Files that were written to or whose attributes changed. */
  readonly inodes: readonly Ino[]
  readonly names: readonly ChangedName[]
  /** Files and directories of which any part may have changed. */
  readonly unknown: readonly Ino[]
}

/** After so many things everything counts as changed. */
const thingsMax = 100_000

/**
 * When each part of the tree last changed, on a clock of this process. It includes what other clients did, and what
 * waits here to be sent.
 */
export class LastChanges {
  readonly #nowMs: () => number
  readonly #inodes = new Map<Ino, number>()
  /** By `parent/name`. */
  readonly #names = new Map<string, number>()
  readonly #unknown = new Map<Ino, number>()
  /** Nothing is known of changes before this. */
  #sinceMs: number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#sinceMs = nowMs()
  }

  note({ inodes, children }: Pick<Changes, 'inodes' | 'children'>): void {
    const now = this.#nowMs()
    // In a directory only the names count, and those of a file that is gone.
    for (const [ino, inode] of inodes)
      if (inode && inode.kind !== 'directory') this.#inodes.set(ino, now)
    for (const [parent, names] of children)
      for (const name of names.keys()) this.#names.set(`${parent}/${name}`, now)
    if (this.#inodes.size + this.#names.size > thingsMax) this.noteEverything()
  }

  noteUnknown(ino: Ino): void {
    this.#unknown.set(ino, this.#nowMs())
    if (this.#unknown.size > thingsMax) this.noteEverything()
  }

  noteEverything(): void {
    this.#inodes.clear()
    this.#names.clear()
    this.#unknown.clear()
    this.#sinceMs = this.#nowMs()
  }

  /** What changed at that time or later; undefined where it may be anything. */
  since(ms: number): ChangedThings | undefined {
    if (ms <= this.#sinceMs) return undefined
    const changed = <T>(all: ReadonlyMap<T, number>): T[] =>
      [...all].filter(([, atMs]) => atMs >= ms).map(([thing]) => thing)
    return {
      inodes: changed(this.#inodes),
      names: changed(this.#names).map(parseName),
      unknown: changed(this.#unknown),
    }
  }
}

function parseName(key: string): ChangedName {
  const slash = key.indexOf('/')
  return { parent: Number(key.slice(0, slash)) as Ino, name: key.slice(slash + 1) as Name }
}
