import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type SeenTree, TreeDatabase } from './tree-database.ts'

/** One is kept for each workspace and each way of seeing it. */
const databasesMax = 16
const bytesMax = 2 ** 30

interface Kept {
  readonly database: TreeDatabase
  /** The tree that is in it; undefined until it is, and after a failure. */
  snapshot: SeenTree['snapshot'] | undefined
  /** Statements that read it, or wait to. */
  users: number
  readers: number
  /** The last change of it. Changes come one after the other, and each waits for the readers. */
  settled: Promise<unknown>
  whenUnread: () => void
}

/** The databases that statements read. They are a cache: a directory that is emptied at the start. */
export class TreeDatabases {
  readonly #directory: string
  readonly #kept = new Map<string, Kept>()
  #made = 0

  constructor(directory: string) {
    this.#directory = directory
    rmSync(directory, { recursive: true, force: true })
  }

  /** Gives `work` the path of a database with the tree. It stays as it is until `work` is done. */
  async read<T>(workspace: string, tree: SeenTree, work: (path: string) => Promise<T>): Promise<T> {
    const kept = this.#keep(`${workspace} ${tree.grant ? JSON.stringify(tree.grant) : ''}`)
    kept.users++
    const moved = kept.settled.then(() => this.#move(kept, tree))
    kept.settled = moved.catch(() => undefined)
    try {
      await moved
      return await this.#readOne(kept, work)
    } finally {
      kept.users--
      this.#drop()
    }
  }

  async #readOne<T>(kept: Kept, work: (path: string) => Promise<T>): Promise<T> {
    try {
      return await work(kept.database.path)
    } finally {
      if (--kept.readers === 0) kept.whenUnread()
    }
  }

  close(): void {
    for (const { database } of this.#kept.values()) database.close()
    this.#kept.clear()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #keep(key: string): Kept {
    let kept = this.#kept.get(key)
    if (!kept) {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      const database = new TreeDatabase(join(this.#directory, `${++this.#made}.db`))
      kept = {
        database,
        snapshot: undefined,
        users: 0,
        readers: 0,
        settled: Promise.resolve(),
        whenUnread: () => {},
      }
    }
    // The one that was used last is the last one.
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    return kept
  }

  /** Leaves one reader more. */
  async #move(kept: Kept, tree: SeenTree): Promise<void> {
    if (kept.snapshot?.root !== tree.snapshot.root) {
      await this.#whenUnread(kept)
      const before = kept.snapshot
      kept.snapshot = undefined
      await (before ? kept.database.move(before, tree) : kept.database.fill(tree))
      kept.snapshot = tree.snapshot
    }
    kept.readers++
  }

  async #whenUnread(kept: Kept): Promise<void> {
    if (kept.readers > 0)
      await new Promise<void>((resolve) => {
        kept.whenUnread = resolve
      })
  }

  /** Those that were not used for the longest time go first. */
  #drop(): void {
    let bytes = 0
    for (const [at, [key, kept]] of [...this.#kept].toReversed().entries()) {
      bytes += kept.database.bytes
      const isTooMuch = at >= databasesMax || bytes > bytesMax
      if (!isTooMuch || kept.users > 0) continue
      kept.database.close()
      this.#kept.delete(key)
    }
  }
}
