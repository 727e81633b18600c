import type { Ino } from '@cairn/protocol'
import type { Inode } from '../filesystem/inode.ts'
import type { Nodes } from '../tree/nodes.ts'
import { Identity } from './identity.ts'
import { namesOf, sameContent } from './sides.ts'
import {
  findTouched,
  type MergeInput,
  type SideName,
  type ThreeSides,
  type TouchedInode,
} from './touched.ts'
import { sameInlineContent, type Version } from './version.ts'

/** Something that at least one side changed since the base, as all three have it. */
export interface Changed {
  readonly id: Ino
  readonly base: Version | undefined
  readonly layer: Version | undefined
  readonly target: Version | undefined
  /** Whether its bytes differ from the base's. */
  readonly editedBy: { readonly layer: boolean; readonly target: boolean }
}

/** Everything either side changed, by identity. Costs the size of the changes. */
export async function collectChanged(
  nodes: Nodes,
  input: MergeInput,
  sides: ThreeSides,
): Promise<ReadonlyMap<Ino, Changed>> {
  const touched = await findTouched(nodes, input, sides.base)
  const versions = new VersionTable(touched, sides)
  await nodes.readEach(touched.keys(), (ino) => versions.take('target', ino))
  await nodes.readEach(touched.keys(), (ino) => versions.take('layer', ino))
  await nodes.readEach(touched.keys(), (ino) => versions.takeBase(ino))
  const changed = new Map<Ino, Changed>()
  for (const [id, object] of versions.byIdentity) {
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
    const layer = await isEdited('layer', object, sides, touched)
    const target = await isEdited('target', object, sides, touched)
    changed.set(id, { ...object, id, editedBy: { layer, target } })
  }
  return changed
}

type Versions = { -readonly [Side in 'base' | SideName]: Changed[Side] }

/** Brings together what the sides call by different numbers. */
class VersionTable {
  readonly byIdentity = new Map<Ino, Versions>()
  readonly #touched: ReadonlyMap<Ino, TouchedInode>
  readonly #sides: ThreeSides
  readonly #identity: Identity

  constructor(touched: ReadonlyMap<Ino, TouchedInode>, sides: ThreeSides) {
    this.#touched = touched
    this.#sides = sides
    this.#identity = new Identity(touched, sides)
  }

  /** Throws NodeMiss. The target first: the layer takes over its identities. */
  take(side: SideName, ino: Ino): void {
    const inode = this.#touched.get(ino)![side]
    if (!inode) return
    const names = namesOf(this.#sides[side].view, ino, inode)
    const links = names.map(({ parent, name }) => ({
      parent: this.#identity.of(side, parent),
      name,
    }))
    this.#versionsOf(this.#identity.of(side, ino))[side] = { ino, inode, links, names }
  }

  takeBase(ino: Ino): void {
    const inode: Inode | undefined = this.#touched.get(ino)!.base
    if (!inode) return
    const names = namesOf(this.#sides.base.view, ino, inode)
    this.#versionsOf(ino).base = { ino, inode, links: names, names }
  }

  #versionsOf(id: Ino): Versions {
    let versions = this.byIdentity.get(id)
    if (!versions)
      this.byIdentity.set(id, (versions = { base: undefined, layer: undefined, target: undefined }))
    return versions
  }
}

async function isEdited(
  side: SideName,
  { base, [side]: version }: Versions,
  sides: ThreeSides,
  touched: ReadonlyMap<Ino, TouchedInode>,
): Promise<boolean> {
  if (!base || !version) return false
  if (version.ino !== base.ino) return !(await sameContent(sides.base, base, sides[side], version))
  return touched.get(version.ino)!.blocks[side] || !sameInlineContent(base.inode, version.inode)
}
