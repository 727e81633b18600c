import type { Ino } from '@cairn/protocol'
import type { Link } from '../filesystem/inode.ts'
import type { Side } from './sides.ts'
import type { Version } from './version.ts'

/**
 * Which inodes of the two sides are one thing. An editor that saves by writing a new file over the old one
 * gives it a new number; two attempts that both make `out/` give it two. People see one path, and so does a
 * merge: the new number takes over the identity of what stood there.
 *
 * Identities are inode numbers: the base's if the thing was there, else the target's, else the layer's.
 */
export class Identity {
  readonly #base: Side
  readonly #layer: Side
  readonly #target: Side
  readonly #ofLayer = new Map<Ino, Promise<Ino>>()
  readonly #ofTarget = new Map<Ino, Promise<Ino>>()
  /** Target inodes that took over an identity of the base. */
  readonly #targetIno = new Map<Ino, Ino>()

  constructor(base: Side, layer: Side, target: Side) {
    this.#base = base
    this.#layer = layer
    this.#target = target
  }

  /** Ask for all changed inodes of the target before any of the layer. */
  ofTarget(ino: Ino): Promise<Ino> {
    return remember(this.#ofTarget, ino, async () => {
      const link = await this.#onlyLinkOfNew(this.#target, ino)
      if (!link) return ino
      const parent = await this.ofTarget(link.parent)
      const replaced = await this.#replaced(this.#target, ino, { parent, name: link.name })
      if (replaced !== undefined) this.#targetIno.set(replaced, ino)
      return replaced ?? ino
    })
  }

  ofLayer(ino: Ino): Promise<Ino> {
    return remember(this.#ofLayer, ino, async () => {
      const link = await this.#onlyLinkOfNew(this.#layer, ino)
      if (!link) return ino
      const place = { parent: await this.ofLayer(link.parent), name: link.name }
      return (
        (await this.#replaced(this.#layer, ino, place)) ?? (await this.#twin(ino, place)) ?? ino
      )
    })
  }

  /** A side's version with its directories by identity. */
  async place(version: Version, side: 'layer' | 'target'): Promise<Version> {
    const of = side === 'layer' ? this.ofLayer.bind(this) : this.ofTarget.bind(this)
    const links: Link[] = []
    for (const { parent, name } of version.links) links.push({ parent: await of(parent), name })
    return { ...version, links }
  }

  /** Only what is new and has one name can take over an identity. */
  async #onlyLinkOfNew(side: Side, ino: Ino): Promise<Link | undefined> {
    if (await this.#base.inode(ino)) return undefined
    return (await side.inode(ino))?.home
  }

  /** What of the same kind stood at that place in the base and is gone from this side. */
  async #replaced(side: Side, ino: Ino, place: Link): Promise<Ino | undefined> {
    const before = await this.#base.child(place)
    if (!before || (await side.inode(before.ino))) return undefined
    const [now, was] = [await side.inode(ino), await this.#base.inode(before.ino)]
    return was?.home && now?.kind === was.kind ? before.ino : undefined
  }

  /** What of the same kind the target has made at the same place. */
  async #twin(ino: Ino, place: Link): Promise<Ino | undefined> {
    const parent = this.#targetIno.get(place.parent) ?? place.parent
    const there = await this.#target.child({ parent, name: place.name })
    if (!there || (await this.ofTarget(there.ino)) !== there.ino) return undefined
    if (!(await this.#onlyLinkOfNew(this.#target, there.ino))) return undefined
    return (await this.#layer.inode(ino))?.kind === there.kind ? there.ino : undefined
  }
}

function remember(known: Map<Ino, Promise<Ino>>, ino: Ino, find: () => Promise<Ino>): Promise<Ino> {
  let identity = known.get(ino)
  if (!identity) known.set(ino, (identity = find()))
  return identity
}
