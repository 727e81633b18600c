import { setTimeout } from 'node:timers/promises'
import { type Inode, readFile, type Snapshot, TreeView, type View } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import type { OpenWorkspace } from '../../workspaces/open-workspace.ts'
import type { SearchTarget } from '../search-target.ts'
import { textKey } from '../texts/text-key.ts'
import { textStore } from '../texts/text-store.ts'
import type { TreeFile } from '../tree-files.ts'
import {
  type FileCatalog,
  changesSince,
  emptyCatalog,
  keyAt,
  movedCatalog,
  placeIn,
} from './catalog.ts'
import { contentKey, isNoKey, noKey } from './content-key.ts'
import { type NewContent, verdicts } from './index-messages.ts'
import type { IndexThread } from './index-thread.ts'
import type { Lookup } from './lookup.ts'
import { keyBytes } from './segment.ts'

interface WorkspaceIndexParts {
  readonly workspace: OpenWorkspace
  readonly thread: IndexThread
  readonly directory: string
  readonly takeTurn: (pass: () => Promise<void>) => void
  readonly isOver: () => boolean
}

/** A tree that differs more from the catalog's is walked. */
const changesMax = 20_000
/** Contents are given to the thread in groups of so many bytes. */
const batchBytes = 1 << 20
const filesAtOnce = 500
/** Each has up to 16 MiB. */
const readsAtOnce = 8

/** The index of one workspace: what is stored of its pool, and what the files of its main branch hold. */
export class WorkspaceIndex {
  readonly #parts: WorkspaceIndexParts
  #catalog: FileCatalog | undefined
  #isFollowing = false
  waiting = 0

  constructor(parts: WorkspaceIndexParts) {
    this.#parts = parts
  }

  get directory(): string {
    return this.#parts.directory
  }

  /** Undefined until the main branch was read for the first time. */
  get catalog(): FileCatalog | undefined {
    return this.#catalog
  }

  /** Brings the catalog to what main is now, in the background. */
  follow(): void {
    if (this.#isFollowing) return
    this.#isFollowing = true
    this.#parts.takeTurn(async () => {
      this.#isFollowing = false
      await this.#pass()
    })
  }

  async #pass(): Promise<void> {
    const { workspace } = this.#parts
    const { nodes } = workspace.stores
    const branch = await workspace.branch('main')
    const { snapshot } = await branch.fold()
    const before = this.#catalog ?? emptyCatalog(nodes)
    if (before.snapshot.root === snapshot.root && this.#catalog) return
    const change = await changesSince(nodes, before.snapshot, snapshot)
    const inos = [...change.inos].filter((_, at) => change.isFile[at] === 1) as Ino[]
    await this.#add(snapshot, inos)
    this.#catalog = movedCatalog(before, change, snapshot)
  }

  /** Makes signatures for the contents of these files that have none. */
  async #add(snapshot: Snapshot, inos: readonly Ino[]): Promise<void> {
    this.waiting += inos.length
    let left = inos.length
    try {
      for (let at = 0; at < inos.length; at += filesAtOnce) {
        const some = inos.slice(at, at + filesAtOnce)
        await this.#addSome(snapshot, some)
        left -= some.length
        this.waiting -= some.length
        if (this.#parts.isOver()) return
      }
    } finally {
      this.waiting -= left
    }
  }

  async #addSome(snapshot: Snapshot, inos: readonly Ino[]): Promise<void> {
    const { workspace, thread, directory } = this.#parts
    const { nodes, blobs } = workspace.stores
    const view = new TreeView(nodes, snapshot)
    const found = new Map<string, { ino: Ino; key: Uint8Array }>()
    await nodes.readEach(inos, (ino) => {
      const inode = view.inode(ino)
      if (inode?.kind !== 'file' || inode.size === 0) return
      const key = contentKey(view, ino, inode)
      if (key !== noKey) found.set(Buffer.from(key).toString('latin1'), { ino, key })
    })
    const contents = [...found.values()]
    const keys = Buffer.concat(contents.map(({ key }) => key))
    const missing = await thread.missing(directory, Uint8Array.from(keys))
    const wanted = contents.filter((_, at) => missing[at] === 1)
    for (let at = 0; at < wanted.length && !this.#parts.isOver();) {
      const beganMs = performance.now()
      const batch: NewContent[] = []
      for (let bytes = 0; at < wanted.length && bytes < batchBytes; at += readsAtOnce) {
        const read = wanted.slice(at, at + readsAtOnce).map(async ({ ino, key }) => {
          const { inode, kept } = await nodes.read(() => this.#find(view, ino))
          return { key, bytes: kept ?? (await readFile(nodes, blobs, view, ino, inode)) }
        })
        const contents = await Promise.all(read)
        batch.push(...contents)
        bytes = batch.reduce((sum, content) => sum + content.bytes.length, 0)
        // Each of them is half a millisecond: other clients come in between.
        await nodes.pacer.rest()
      }
      await thread.add(directory, batch)
      // As long as it worked: the stores and the processors are for those who wait.
      await setTimeout(performance.now() - beganMs)
    }
  }

  /** With its text, where the search that made the index begin has read it. */
  #find(view: View, ino: Ino): { readonly inode: Inode; readonly kept: Uint8Array | undefined } {
    const inode = view.inode(ino)!
    const key = textKey(this.#parts.workspace.info.id, view, ino, inode)
    return { inode, kept: key === undefined ? undefined : textStore.find(key) }
  }

  /**
   * The files of a tree that may have a match, by number. Undefined where the index does not know enough. For callers who may
   * search everything: it looks at all files.
   */
  async candidates(
    { nodes, snapshot }: SearchTarget,
    lookup: Lookup,
  ): Promise<ReadonlySet<Ino> | undefined> {
    const catalog = this.#catalog
    if (!catalog) return undefined
    const change = await changesSince(nodes, catalog.snapshot, snapshot)
    if (change.inos.length > changesMax) return undefined
    const [known, changed] = await Promise.all([
      this.#select(catalog.keys, lookup),
      this.#select(change.keys, lookup),
    ])
    const inos = new Set<Ino>()
    const unknown: Ino[] = []
    for (let at = 0; at < known.length; at++) {
      if (known[at] === verdicts.no) continue
      inos.add(catalog.inos[at] as Ino)
      // Its signature was lost: it is made again.
      if (known[at] === verdicts.unknown && !isNoKey(catalog.keys, at))
        unknown.push(catalog.inos[at] as Ino)
    }
    for (const [at, number] of change.inos.entries()) {
      const ino = number as Ino
      inos.delete(ino)
      if (change.isFile[at] === 0 || changed[at] === verdicts.no) continue
      inos.add(ino)
      if (changed[at] === verdicts.unknown && !isNoKey(change.keys, at)) unknown.push(ino)
    }
    this.#learn(snapshot, unknown)
    return inos
  }

  /** Gives 1 for each file that need not be searched. */
  async sift(
    { nodes, view, grant, snapshot }: SearchTarget,
    files: readonly TreeFile[],
    lookup: Lookup,
  ): Promise<Uint8Array> {
    const keys = new Uint8Array(files.length * keyBytes)
    let at = 0
    await nodes.readEach(files, ({ ino, inode }) => {
      const key = inode.size === 0 ? noKey : contentKey(view, ino, inode)
      if (!grant || this.#isCatalogued(ino, key)) keys.set(key, at * keyBytes)
      at++
    })
    const found = await this.#select(keys, lookup)
    if (!grant)
      this.#learn(
        snapshot,
        files.filter((_, index) => found[index] === verdicts.unknown).map(({ ino }) => ino),
      )
    return found.map((verdict) => (verdict === verdicts.no ? 1 : 0))
  }

  /**
   * A token's new file is scanned even where its content has a signature. Else a search would be quicker for a content that
   * a file out of its sight has too.
   */
  #isCatalogued(ino: Ino, key: Uint8Array): boolean {
    const place = this.#catalog ? placeIn(this.#catalog, ino) : -1
    return place >= 0 && Buffer.compare(keyAt(this.#catalog!.keys, place), key) === 0
  }

  async #select(keys: Uint8Array, { clauses, isText }: Lookup): Promise<Uint8Array> {
    const { thread, directory } = this.#parts
    if (keys.length === 0) return new Uint8Array()
    return thread.select(directory, keys, clauses, isText)
  }

  /** The next search of this tree will know them. */
  #learn(snapshot: Snapshot, inos: readonly Ino[]): void {
    if (inos.length > 0) this.#parts.takeTurn(() => this.#add(snapshot, inos))
  }
}
