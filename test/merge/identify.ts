import { nameOf, parentOf, type Place, type Thing, type Things } from './things.ts'

/** A thing as each side has it. Places are by identity, so they can be compared. */
export interface Versions {
  base?: Thing
  layer?: Thing
  target?: Thing
}

/** The things of all sides by identity: base's number, else target's, else layer's. */
export function identify(base: Things, layer: Things, target: Things): Map<number, Versions> {
  const ids = new Identities(base, layer, target)
  const versions = new Map<number, Versions>()
  const put = (side: 'base' | 'layer' | 'target', thing: Thing, id: number): void => {
    const places = thing.places.map((place) => ids.placeOf(side, place))
    versions.set(id, { ...versions.get(id), [side]: { ...thing, places } })
  }
  for (const thing of base.values()) put('base', thing, thing.ino)
  for (const thing of target.values()) put('target', thing, ids.target.get(thing.ino)!)
  for (const thing of layer.values()) put('layer', thing, ids.layer.get(thing.ino)!)
  return versions
}

/** Begins with every number standing for itself, and applies the rules again and again until nothing changes. */
class Identities {
  target: ReadonlyMap<number, number>
  layer: ReadonlyMap<number, number>
  readonly #base: Things
  readonly #target: Things

  constructor(base: Things, layer: Things, target: Things) {
    this.#base = base
    this.#target = target
    this.target = new Map([...target.keys()].map((ino) => [ino, ino]))
    this.layer = new Map([...layer.keys()].map((ino) => [ino, ino]))
    for (let before = ''; before !== JSON.stringify([[...this.target], [...this.layer]]);) {
      before = JSON.stringify([[...this.target], [...this.layer]])
      this.target = this.#again(target, (made) => this.#replaced('target', target, made))
      this.layer = this.#again(
        layer,
        (made) => this.#replaced('layer', layer, made) ?? this.#twin(made),
      )
    }
  }

  placeOf(side: 'base' | 'layer' | 'target', place: Place): Place {
    const parent = parentOf(place)
    const id = side === 'base' ? parent : this[side].get(parent)!
    return `${id}/${nameOf(place)}`
  }

  /** Only what is new and has one name can be what something else was. */
  #again(things: Things, find: (made: Thing) => number | undefined): Map<number, number> {
    const ids = new Map<number, number>()
    for (const thing of things.values()) {
      const isMade = !this.#base.has(thing.ino) && thing.places.length === 1
      ids.set(thing.ino, (isMade ? find(thing) : undefined) ?? thing.ino)
    }
    return ids
  }

  #replaced(side: 'layer' | 'target', things: Things, made: Thing): number | undefined {
    const place = this.placeOf(side, made.places[0]!)
    const was = [...this.#base.values()].find(({ places }) => places.includes(place))
    if (!was || was.kind !== made.kind || was.places.length > 1 || things.has(was.ino))
      return undefined
    return was.ino
  }

  #twin(made: Thing): number | undefined {
    const place = this.placeOf('layer', made.places[0]!)
    const there = [...this.#target.values()].find(({ places }) =>
      places.some((other) => this.placeOf('target', other) === place),
    )
    if (!there || there.kind !== made.kind || there.places.length > 1) return undefined
    if (this.#base.has(there.ino) || this.target.get(there.ino) !== there.ino) return undefined
    return there.ino
  }
}
