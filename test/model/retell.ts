import type { CreateOp, Link, Op, Time } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import type { Chance } from './chance.ts'
import { makeBytes } from './make-bytes.ts'
import type { ModelInode, ModelName } from './model-inode.ts'
import type { Model } from './model.ts'
import { cutPieces, type Piece } from './pieces.ts'
import type { Resolver } from './resolve.ts'

/**
 * Another history of a tree: other operations in another order, with detours, that end in the same names, attributes
 * and bytes. What has no name is left out.
 */
export class Retelling {
  readonly #model: Model
  readonly #resolver: Resolver
  readonly #chance: Chance
  readonly #ops: Op[] = []
  readonly #made: ModelInode[]
  #spares = 0

  constructor(model: Model, resolver: Resolver, chance: Chance) {
    this.#model = model
    this.#resolver = resolver
    this.#chance = chance
    this.#made = [model.root]
  }

  async tell(): Promise<readonly Op[]> {
    this.#makeNames()
    for (const inode of this.#chance.shuffle(this.#made)) {
      if (inode.kind === 'file') await this.#fill(inode)
      this.#setXattrs(inode)
    }
    // Last, because everything else leaves its own time behind.
    for (const { ino, mode, uid, gid, atime, mtime, ctime } of this.#chance.shuffle(this.#made))
      this.#ops.push({ type: 'setattr', ino, time: ctime, mode, uid, gid, atime, mtime })
    return this.#ops
  }

  /** A directory before what is in it; else in any order. */
  #makeNames(): void {
    const left = [...this.#model.names()].flatMap(([inode, names]) =>
      names.map((name) => ({ inode, ...name })),
    )
    for (;;) {
      const ready = left.filter(({ directory }) => this.#made.includes(directory))
      if (ready.length === 0) return
      const next = this.#chance.choose(ready)
      left.splice(left.indexOf(next), 1)
      this.#makeName(next.inode, next)
      if (this.#chance.oneIn(4)) this.#makeAndRemove()
    }
  }

  #makeName(inode: ModelInode, { directory, name }: ModelName): void {
    const place = { parent: directory.ino, name }
    const first = this.#chance.oneIn(3) ? this.#spareName() : place
    if (this.#made.includes(inode))
      this.#ops.push({ type: 'link', time: this.#time(), ...first, ino: inode.ino })
    else {
      this.#create(first, inode)
      this.#made.push(inode)
    }
    if (first !== place) this.#move(inode, first, place)
  }

  /** Plainly, over something that is in the way, or by changing places with it. */
  #move({ kind }: ModelInode, from: Link, to: Link): void {
    const time = this.#time()
    const mode = this.#chance.choose(['replace', 'noreplace', 'exchange'] as const)
    const isInTheWay = mode === 'exchange' || (mode === 'replace' && kind !== 'directory')
    const other = isInTheWay
      ? this.#create(to, { ino: this.#resolver.nextIno(), kind: 'fifo' })
      : undefined
    this.#ops.push({ type: 'rename', time, ...from, newParent: to.parent, newName: to.name, mode })
    if (mode === 'exchange') this.#ops.push({ type: 'unlink', time, ...from })
    if (other && this.#chance.oneIn(2)) this.#ops.push({ type: 'reap', ino: other })
  }

  #makeAndRemove(): void {
    const name = this.#spareName()
    const kind = this.#chance.choose(['file', 'directory'] as const)
    const ino = this.#create(name, { ino: this.#resolver.nextIno(), kind })
    if (kind === 'file') this.#write(ino, { offset: 0, bytes: makeBytes(ino, 200) })
    this.#ops.push({ type: kind === 'file' ? 'unlink' : 'rmdir', time: this.#time(), ...name })
    if (this.#chance.oneIn(2)) this.#ops.push({ type: 'reap', ino })
  }

  async #fill({ ino, bytes, length }: ModelInode): Promise<void> {
    if (this.#chance.oneIn(2)) {
      // Wrong bytes, some of them behind the end, and gone again.
      const offset = this.#chance.below(Math.min(length, 400_000) + 300)
      this.#write(ino, { offset, bytes: makeBytes(ino, 300) })
      const time = this.#time()
      const range = { offset: 0, length: offset + 300, dropPrivileges: false } as const
      if (this.#chance.oneIn(2)) this.#ops.push({ type: 'setattr', time, ino, size: offset >> 1 })
      this.#ops.push({ type: 'fallocate', time, ino, mode: 'punch', ...range })
    }
    const pieces = cutPieces(bytes, length, this.#chance)
    for (const piece of this.#chance.shuffle(pieces)) await this.#writeSomehow(ino, piece)
    this.#ops.push({ type: 'setattr', time: this.#time(), ino, size: length })
  }

  async #writeSomehow(ino: Ino, piece: Piece): Promise<void> {
    const { offset, bytes } = piece
    const how = this.#chance.below(4)
    if (how === 0) this.#write(ino, { offset, bytes: makeBytes(1, bytes.length) })
    if (how < 2) return this.#write(ino, piece)
    if (how === 2) return this.#copy(ino, piece)
    const data = await this.#resolver.store(bytes, this.#chance.below(2), this.#chance.below(2))
    const time = this.#time()
    this.#ops.push({ type: 'write', time, ino, offset, data, dropPrivileges: false })
  }

  /** From a file that is then removed. */
  #copy(ino: Ino, { offset, bytes }: Piece): void {
    const name = this.#spareName()
    const from = this.#create(name, { ino: this.#resolver.nextIno(), kind: 'file' })
    const fromOffset = this.#chance.below(3)
    const time = this.#time()
    this.#write(from, { offset: fromOffset, bytes })
    const range = { fromOffset, offset, length: bytes.length, dropPrivileges: false } as const
    this.#ops.push({ type: 'copy', time, from, ino, ...range })
    this.#ops.push({ type: 'unlink', time, ...name })
  }

  #write(ino: Ino, { offset, bytes }: Piece): void {
    const data = { type: 'bytes', bytes } as const
    this.#ops.push({ type: 'write', time: this.#time(), ino, offset, data, dropPrivileges: false })
  }

  #setXattrs({ ino, xattrs }: ModelInode): void {
    const time = this.#time()
    if (this.#chance.oneIn(4)) {
      const value = makeBytes(1, 100)
      this.#ops.push({ type: 'setxattr', time, ino, name: 'user.gone', value, mode: 'create' })
      this.#ops.push({ type: 'removexattr', time, ino, name: 'user.gone' })
    }
    for (const [name, value] of this.#chance.shuffle([...xattrs]))
      this.#ops.push({ type: 'setxattr', time, ino, name, value, mode: 'set' })
  }

  #create(
    link: Link,
    { ino, kind, rdev = 0, target }: Pick<CreateOp, 'ino' | 'kind'> & Partial<CreateOp>,
  ): Ino {
    const owner = { mode: 0o600, uid: 7, gid: 7 }
    const { parent, name } = link
    const time = this.#time()
    this.#ops.push({ type: 'create', time, parent, name, ino, kind, rdev, target, ...owner })
    return ino
  }

  /** Nothing in the tree has such a name. */
  #spareName(): Link {
    const directories = this.#made.filter(({ kind }) => kind === 'directory')
    const name = `spare ${++this.#spares}` as Name
    return { parent: this.#chance.choose(directories).ino, name }
  }

  /** Before all times of the tree: what is set last must not be earlier than what was. */
  #time(): Time {
    return { sec: this.#chance.below(1000) - 2000, nsec: this.#chance.below(1000) }
  }
}
