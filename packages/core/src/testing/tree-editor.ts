import { type ByteString, fromByteString, type Ino, isFsError, rootIno } from '@cairn/protocol'
import { applyOp } from '../filesystem/apply.ts'
import * as attributes from '../filesystem/calls/attributes.ts'
import type { Call } from '../filesystem/calls/context.ts'
import * as data from '../filesystem/calls/data.ts'
import * as paths from '../filesystem/calls/paths.ts'
import { Changes } from '../filesystem/changes.ts'
import type { Inode, Kind } from '../filesystem/inode.ts'
import type { Snapshot, Time } from '../ports/records.ts'
import type { Op, RenameMode } from '../filesystem/op.ts'
import { resolveExisting } from '../filesystem/resolve.ts'
import { TreeView } from '../filesystem/tree-view.ts'
import type { NamedDentry } from '../filesystem/view.ts'
import { fold } from '../history/fold.ts'
import type { Stores } from '../history/stores.ts'

/** Numbers and times for all editors of one test: no number is given twice. */
export class Supply {
  readonly #tick: number
  #lastIno: number = rootIno
  #seconds = 1000

  /** A clock without ticks is what two writers have that are faster than theirs. */
  constructor(tick = 1) {
    this.#tick = tick
  }

  newIno(): Ino {
    return ++this.#lastIno as Ino
  }

  now(): Time {
    this.#seconds += this.#tick
    return { sec: this.#seconds, nsec: 0 }
  }
}

/**
 * Changes a snapshot by path, for tests. Every call is root's and goes through the rules, which may throw an
 * errno. The snapshot's nodes must be in memory, as they are where it was made.
 */
export class TreeEditor {
  readonly #stores: Pick<Stores, 'nodes' | 'blobs'>
  readonly #supply: Supply
  readonly #snapshot: Snapshot
  readonly #changes: Changes
  /** Every operation so far, for tests that send them through a log. */
  readonly ops: Op[] = []

  constructor(stores: Pick<Stores, 'nodes' | 'blobs'>, snapshot: Snapshot, supply: Supply) {
    this.#stores = stores
    this.#supply = supply
    this.#snapshot = snapshot
    this.#changes = new Changes(new TreeView(stores.nodes, snapshot))
  }

  fold(): Promise<Snapshot> {
    return fold(this.#stores.nodes, this.#stores.blobs, this.#snapshot, this.#changes).then(
      ({ snapshot }) => snapshot,
    )
  }

  /** Undefined where nothing is. */
  find(path: ByteString): { readonly ino: Ino; readonly inode: Inode } | undefined {
    try {
      const { ino } = this.#existing(path)
      return { ino, inode: this.#changes.inode(ino)! }
    } catch (error) {
      if (isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR')) return undefined
      throw error
    }
  }

  entries(directory: ByteString): readonly NamedDentry[] {
    return this.#changes.entries(this.#existing(directory).ino, undefined, Infinity)
  }

  mkdir(path: ByteString, mode = 0o755): this {
    return this.mknod(path, 'directory', { mode })
  }

  symlink(path: ByteString, target: string): this {
    return this.mknod(path, 'symlink', { mode: 0o777, target: fromByteString(target) })
  }

  mknod(
    path: ByteString,
    kind: Kind,
    file: Partial<Parameters<typeof paths.create>[2]> = {},
  ): this {
    return this.#apply((call) => paths.create(call, path, { mode: 0o644, ...file, kind }))
  }

  /** Gives a file this content in place; makes it where there is none. */
  write(path: ByteString, content: string | Uint8Array): this {
    if (this.find(path)) this.truncate(path, 0)
    else this.mknod(path, 'file')
    return this.writeAt(path, 0, content)
  }

  writeAt(path: ByteString, offset: number, content: string | Uint8Array): this {
    const bytes = typeof content === 'string' ? fromByteString(content) : content
    const { ino } = this.#existing(path)
    return this.#apply((call) => data.write(call, ino, offset, { type: 'bytes', bytes }))
  }

  truncate(path: ByteString, size: number): this {
    const { ino } = this.#existing(path)
    return this.#apply((call) => data.truncate(call, ino, size))
  }

  /** As many editors save: a new file that is renamed over the old one. */
  saveByRename(path: ByteString, content: string | Uint8Array): this {
    return this.write(`${path}.tmp`, content).rename(`${path}.tmp`, path)
  }

  link(existing: ByteString, path: ByteString): this {
    return this.#apply((call) => paths.link(call, existing, path))
  }

  rename(from: ByteString, to: ByteString, mode: RenameMode = 'replace'): this {
    return this.#apply((call) => paths.rename(call, from, to, mode))
  }

  /** As `rm -r` does. */
  remove(path: ByteString): this {
    const { kind } = this.#existing(path)
    if (kind !== 'directory') return this.#apply((call) => paths.unlink(call, path))
    for (const { name } of this.entries(path)) this.remove(`${path}/${name}`)
    return this.#apply((call) => paths.rmdir(call, path))
  }

  chmod(path: ByteString, mode: number): this {
    const { ino } = this.#existing(path)
    return this.#apply((call) => attributes.chmod(call, ino, mode))
  }

  chown(path: ByteString, uid: number | undefined, gid?: number): this {
    const { ino } = this.#existing(path)
    return this.#apply((call) => attributes.chown(call, ino, uid, gid))
  }

  touch(path: ByteString): this {
    const { ino } = this.#existing(path)
    return this.#apply((call) => attributes.utimens(call, ino, 'now', 'now')!)
  }

  setxattr(path: ByteString, name: string, value: string): this {
    const { ino } = this.#existing(path)
    return this.#apply((call) => attributes.setxattr(call, ino, name, fromByteString(value), 'set'))
  }

  removexattr(path: ByteString, name: string): this {
    const { ino } = this.#existing(path)
    return this.#apply((call) => attributes.removexattr(call, ino, name))
  }

  #existing(path: ByteString): ReturnType<typeof resolveExisting> {
    return resolveExisting(this.#changes, path === '' ? '/' : path, { who: root, follow: false })
  }

  #apply(make: (call: Call) => Op): this {
    const op = make({
      view: this.#changes,
      who: root,
      now: this.#supply.now(),
      newIno: () => this.#supply.newIno(),
    })
    // An operation that fails half-way leaves nothing behind.
    const changes = new Changes(this.#changes)
    applyOp(changes, op)
    this.#changes.absorb(changes)
    this.ops.push(op)
    return this
  }
}

const root = { uid: 0, gid: 0, groups: [] }
