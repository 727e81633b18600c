import { keyBytes } from './segment.ts'

const words = keyBytes / 4

/** Where the signature of each content is: a map from keys to two numbers in 32 bytes for each, where a Map takes 200. */
export class KeyTable {
  #slots = 1 << 10
  #keys = new Uint32Array(this.#slots * words)
  /** The segment's number, or 0 for a slot that is free; and the index in the segment. */
  #places = new Uint32Array(this.#slots * 2)
  size = 0

  /** The slot of a key, or -1. `keys` holds keys one behind the other. */
  find(keys: Uint32Array, index: number): number {
    const slot = this.#slot(keys, index * words)
    return this.#places[slot * 2] === 0 ? -1 : slot
  }

  segmentAt(slot: number): number {
    return this.#places[slot * 2]!
  }

  indexAt(slot: number): number {
    return this.#places[slot * 2 + 1]!
  }

  set(keys: Uint32Array, index: number, segment: number, place: number): void {
    if ((this.size + 1) * 2 > this.#slots) this.#grow()
    const slot = this.#slot(keys, index * words)
    if (this.#places[slot * 2] === 0) this.size++
    for (let word = 0; word < words; word++)
      this.#keys[slot * words + word] = keys[index * words + word]!
    this.#places[slot * 2] = segment
    this.#places[slot * 2 + 1] = place
  }

  /** The key's, or the free one that it would take. */
  #slot(keys: Uint32Array, at: number): number {
    for (let slot = keys[at]! % this.#slots; ; slot = (slot + 1) % this.#slots) {
      if (this.#places[slot * 2] === 0) return slot
      let word = 0
      while (word < words && this.#keys[slot * words + word] === keys[at + word]) word++
      if (word === words) return slot
    }
  }

  #grow(): void {
    const [keys, places] = [this.#keys, this.#places]
    this.#slots *= 2
    this.#keys = new Uint32Array(this.#slots * words)
    this.#places = new Uint32Array(this.#slots * 2)
    this.size = 0
    for (let slot = 0; slot * 2 < places.length; slot++)
      if (places[slot * 2] !== 0) this.set(keys, slot, places[slot * 2]!, places[slot * 2 + 1]!)
  }
}
