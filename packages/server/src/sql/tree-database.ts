import { rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import {
  changedInos,
  type Inode,
  joinNames,
  type Nodes,
  namesOf,
  pathsOf,
  type Snapshot,
  TreeView,
  type View,
} from '@cairn/core'
import {
  allows,
  type ByteString,
  formatPath,
  type Grant,
  type Ino,
  isWay,
  type Name,
  rootIno,
} from '@cairn/protocol'
import { statOf } from '../files/stat.ts'
import { contentHash } from '../search/texts/content-hash.ts'
import { walkFrom } from '../files/walk.ts'
import { millisecondsOf } from '../ports/clock.ts'
import { createTable, entryColumns, insertInto, type SqlRow } from './tables.ts'

/** A tree as one caller sees it. */
export interface SeenTree {
  readonly nodes: Nodes
  readonly snapshot: Snapshot
  readonly view: View
  readonly grant: Grant | undefined
}

/** About 1 ms. */
const rowsAtOnce = 100
/** With more changes than this, reading the whole tree again is not much slower. */
const changesMax = 20_000

/** A SQLite file with a row for each entry of a tree. It can be made again at any time, so nothing is synced. */
export class TreeDatabase {
  readonly path: string
  readonly #db: DatabaseSync
  readonly #insert: StatementSync
  readonly #remove: StatementSync
  readonly #removeBelow: StatementSync
  /** A path that is not UTF-8 has no text of its own, so its row cannot be found again. */
  #hasOddPaths = false

  constructor(path: string) {
    this.path = path
    rmSync(path, { force: true })
    this.#db = new DatabaseSync(path)
    this.#db.exec('pragma journal_mode = off; pragma synchronous = off')
    this.#db.exec(createTable('entries', entryColumns))
    this.#db.exec(
      'create index entries_path on entries(path); create index entries_ext on entries(ext)',
    )
    this.#insert = this.#db.prepare(insertInto('entries', entryColumns))
    this.#remove = this.#db.prepare('delete from entries where path = ?')
    // '0' is the character after '/'.
    this.#removeBelow = this.#db.prepare(
      `delete from entries where rowid in (
        select rowid from entries where path > ? || '/' and path < ? || '0' limit ${rowsAtOnce})`,
    )
  }

  get bytes(): number {
    const row = this.#db
      .prepare('select page_count * page_size as bytes from pragma_page_count, pragma_page_size')
      .get()
    return Number(row?.['bytes'] ?? 0)
  }

  close(): void {
    this.#db.close()
    rmSync(this.path, { force: true })
  }

  async fill(tree: SeenTree): Promise<void> {
    this.#hasOddPaths = false
    await this.#inTransaction(async () => {
      this.#db.exec('delete from entries')
      await this.#addBelow(tree, rootIno, [])
    })
  }

  /** From one tree to another one of the same caller. Costs the size of the difference. */
  async move(before: Snapshot, tree: SeenTree): Promise<void> {
    // What a token sees below a directory that moved is another question for each entry.
    if (tree.grant || this.#hasOddPaths) return this.fill(tree)
    const inos = await changedInos(tree.nodes, before, tree.snapshot)
    if (inos.size > changesMax) return this.fill(tree)
    const touched = new Map<string, Touched>()
    const was = new TreeView(tree.nodes, before)
    await tree.nodes.readEach(inos, (ino) => noteTouched(touched, ino, was, tree.view))
    await this.#inTransaction(() => this.#apply(touched, tree))
  }

  /** One for all rows: thousands of small ones cost ten times as much. After a failure the tree is filled anew. */
  async #inTransaction(work: () => Promise<void>): Promise<void> {
    this.#db.exec('begin')
    try {
      await work()
    } finally {
      this.#db.exec('commit')
    }
  }

  async #apply(touched: ReadonlyMap<string, Touched>, tree: SeenTree): Promise<void> {
    for (const [path, { isMoved }] of touched) {
      this.#remove.run(path)
      if (isMoved) await this.#removeAllBelow(tree, path)
      if (tree.nodes.pacer.isDue()) await tree.nodes.pacer.rest()
    }
    for (const each of touched.values()) await this.#addAgain(tree, each)
  }

  /** What is there now, at a path that changed. */
  async #addAgain(tree: SeenTree, { names, isMoved }: Touched): Promise<void> {
    const { nodes, view, grant } = tree
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
    const found = await nodes.read(() => find(view, grant, names))
    if (!found) return
    const path = formatPath(names)
    // It may have come with a directory above it.
    this.#remove.run(path)
    this.#add(view, found, names)
    if (!isMoved || found.inode.kind !== 'directory') return
    await this.#removeAllBelow(tree, path)
    await this.#addBelow(tree, found.ino, names)
  }

  async #removeAllBelow({ nodes }: SeenTree, path: string): Promise<void> {
    while (this.#removeBelow.run(path, path).changes === rowsAtOnce)
      if (nodes.pacer.isDue()) await nodes.pacer.rest()
  }

  async #addBelow(
    { nodes, view, grant }: SeenTree,
    top: Ino,
    names: readonly Name[],
  ): Promise<void> {
    for (let after: readonly Name[] = []; ;) {
      const met = await nodes.read(() =>
        walkFrom(view, top, after, rowsAtOnce).map(({ ino, path }) => {
          const inode = view.inode(ino)!
          const whole = [...names, ...path]
          return { ino, path, whole, inode, hash: hashOf(view, grant, ino, inode, whole) }
        }),
      )
      for (const { whole, ...entry } of met)
        if (isListed(grant, joinNames(whole))) this.#add(view, entry, whole)
      if (met.length < rowsAtOnce) return
      after = met.at(-1)!.path
      if (nodes.pacer.isDue()) await nodes.pacer.rest()
    }
  }

  #add(view: View, { ino, inode, hash }: Entry, path: readonly Name[]): void {
    const stat = statOf(view, ino, inode, path)
    if ('pathBytes' in stat) this.#hasOddPaths = true
    const name = stat.path.slice(stat.path.lastIndexOf('/') + 1)
    const row: SqlRow = [
      stat.path,
      name,
      inode.kind === 'file' ? extensionOf(name) : '',
      inode.kind,
      inode.size,
      stat.mode,
      inode.uid,
      inode.gid,
      inode.nlink,
      ino,
      timeText(inode.mtime),
      timeText(inode.ctime),
      inode.target ? new TextDecoder().decode(inode.target) : null,
      stat.etag.slice(1, -1),
      hash,
      stat.tags ? JSON.stringify(stat.tags) : null,
    ]
    this.#insert.run(...row)
  }
}

interface Entry {
  readonly ino: Ino
  readonly inode: Inode
  readonly hash: string | null
}

function find(view: View, grant: Grant | undefined, names: readonly Name[]): Entry | undefined {
  let ino: Ino | undefined = rootIno
  for (const name of names) ino = ino === undefined ? ino : view.child(ino, name)?.ino
  if (ino === undefined) return undefined
  const inode = view.inode(ino)!
  return { ino, inode, hash: hashOf(view, grant, ino, inode, names) }
}

/** Larger files have so many blocks that the table would take long to fill. */
const hashedBytesMax = 64 << 20

/** Who may not read a file must not learn whether it holds what a guess says. */
function hashOf(
  view: View,
  grant: Grant | undefined,
  ino: Ino,
  inode: Inode,
  path: readonly Name[],
): string | null {
  if (inode.kind !== 'file' || inode.size > hashedBytesMax) return null
  if (grant && !allows(grant, 'read', joinNames(path))) return null
  return Buffer.from(contentHash(view, ino, inode), 'latin1').toString('hex')
}

/** A path whose row may be another one now. */
interface Touched {
  readonly names: readonly Name[]
  /** What is below it moved with it, and is no other inode. */
  readonly isMoved: boolean
}

/** Throws NodeMiss, and then has noted nothing. */
function noteTouched(touched: Map<string, Touched>, ino: Ino, before: View, after: View): void {
  const [was, is] = [before, after].map((view) => pathsOf(view, ino))
  const isDirectory = [before, after].some((view) => view.inode(ino)?.kind === 'directory')
  const isMoved = isDirectory && was![0] !== is![0]
  for (const path of new Set([...was!, ...is!])) {
    const names = namesOf(path)
    // The top directory has no row.
    if (names.length === 0) continue
    const key = formatPath(names)
    touched.set(key, { names, isMoved: isMoved || touched.get(key)?.isMoved === true })
  }
}

/** As a listing of its directory would have it. */
export function isListed(grant: Grant | undefined, path: ByteString): boolean {
  return !grant || isWay(grant, path) || allows(grant, 'list', path)
}

/** Without its dot: `ts`. A name that begins with its only dot has none. */
function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot + 1) : ''
}

/** Null for a time that no calendar has: programs may set any. */
function timeText(time: Inode['mtime']): string | null {
  const date = new Date(millisecondsOf(time))
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
