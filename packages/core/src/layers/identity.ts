import type { Ino, Name } from '@cairn/protocol'
import type { Inode, Link } from '../filesystem/inode.ts'
import type { SideName, ThreeSides, TouchedInode } from './touched.ts'

/**
 * Which inodes of the two sides are one thing. An editor that saves by writing a new file over the old one
 * gives it a new number; two attempts that both make `out/` give it two. People see one path, and so does a
 * merge: the new number takes over the identity of what stood there.
 *
 * Identities are inode numbers: the base's if the thing was there, else the target's, else the layer's. No two
 * inodes of one side share one. All of it throws NodeMiss; asking again goes on where it stopped.
 */
export class Identity {
  readonly #touched: ReadonlyMap<Ino, TouchedInode>
  readonly #sides: ThreeSides
  readonly #ofLayer = new Map<Ino, Ino>()
  readonly #ofTarget = new Map<Ino, Ino>()
  /** The target's numbers for identities that it took over. */
  readonly #targetIno = new Map<Ino, Ino>()

  constructor(touched: ReadonlyMap<Ino, TouchedInode>, sides: ThreeSides) {
    this.#touched = touched
    this.#sides = sides
  }

  of(side: SideName, ino: Ino): Ino {
    return side === 'layer' ? this.ofLayer(ino) : this.ofTarget(ino)
  }

  ofTarget(ino: Ino): Ino {
    return this.#find('target', this.#ofTarget, ino, (made, parent) => {
      const id = this.#replaced('target', made, parent)
      if (id !== undefined) this.#targetIno.set(id, made.ino)
      return id
    })
  }

  /** Ask for all touched inodes of the target before the first of the layer. */
  ofLayer(ino: Ino): Ino {
    return this.#find(
      'layer',
      this.#ofLayer,
      ino,
      (made, parent) => this.#replaced('layer', made, parent) ?? this.#twin(made, parent),
    )
  }

  /** The identity of a thing depends on its directory's: up to one that is known, then down again. */
  #find(
    side: SideName,
    known: Map<Ino, Ino>,
    ino: Ino,
    takenOver: (made: Made, parent: Ino) => Ino | undefined,
  ): Ino {
    const way: Made[] = []
    let at = ino
    for (let made = this.#made(side, at); made && !known.has(at); made = this.#made(side, at)) {
      way.push(made)
      at = made.home.parent
    }
    let identity = known.get(at) ?? at
    for (const made of way.reverse()) {
      identity = takenOver(made, identity) ?? made.ino
      known.set(made.ino, identity)
    }
    return identity
  }

  /**
   * Only what one side made, with one name, can take over an identity. A new number that both sides have is one
   * thing already: one has it from the other.
   */
  #made(side: SideName, ino: Ino): Made | undefined {
    const inode = this.#touched.get(ino)
    if (!inode || inode.base || (inode.layer && inode.target)) return undefined
    const made = inode[side]
    return made?.home ? { ino, kind: made.kind, home: made.home } : undefined
  }

  /** What of the same kind had that name in the base and is gone from this side. */
  #replaced(side: SideName, { kind, home }: Made, parent: Ino): Ino | undefined {
    const directory = this.#touched.get(parent)
    if (directory && !directory.base) return undefined
    const before = this.#sides.base.view.child(parent, home.name)
    const touched = before && this.#touched.get(before.ino)
    if (!touched || touched[side] || before.kind !== kind) return undefined
    return touched.base?.home ? before.ino : undefined
  }

  /** What of the same kind the target has made in the same place. */
  #twin({ kind, home }: Made, parent: Ino): Ino | undefined {
    const there = this.#targetsChild(parent, home.name)
    if (there === undefined || this.#made('target', there)?.kind !== kind) return undefined
    return this.ofTarget(there) === there ? there : undefined
  }

  #targetsChild(parent: Ino, name: Name): Ino | undefined {
    const number = this.#targetIno.get(parent) ?? parent
    const directory = this.#touched.get(number)
    if (directory && !directory.target) return undefined
    return this.#sides.target.view.child(number, name)?.ino
  }
}

interface Made extends Pick<Inode, 'kind'> {
  readonly ino: Ino
  readonly home: Link
}
