import type { Ino } from '@cairn/protocol'
import type { LeaseStore } from '../ports/lease-store.ts'
import { NumberRanges } from './number-ranges.ts'

/**
 * Which inode numbers are a token's: those it was given, by any server, for its sessions and its writes over HTTP. A
 * file with such a number was created by the token, so it may remove it without the right to delete. One that took the
 * place of another client's file is no longer its own: or replacing and then removing would be a way to delete.
 */
export class Holdings {
  readonly #store: LeaseStore
  readonly #identity: string
  readonly #nowMs: () => number
  #given = NumberRanges.none
  #replaced: ReadonlySet<number> = new Set()

  /** `identity` is that of the exact token. What was given to tokens narrowed from it counts as well. */
  constructor(store: LeaseStore, identity: string, nowMs: () => number) {
    this.#store = store
    this.#identity = identity
    this.#nowMs = nowMs
  }

  /** As the store has it at this moment: other servers write to it, too. */
  async load(): Promise<void> {
    const notes = await this.#store.listNotes(this.#identity)
    this.#given = NumberRanges.of(
      notes.flatMap(({ kind, value }) => (kind === 'inodes' ? [parseRange(value)] : [])),
    )
    this.#replaced = new Set(
      notes.flatMap(({ kind, value }) => (kind === 'replaced' ? Number(value) : [])),
    )
  }

  /** Called before the numbers are sent. */
  async give(first: number, count: number): Promise<void> {
    const value = `${first}+${count}`
    await this.#store.addNotes(this.#identity, [{ kind: 'inodes', value }], this.#nowMs())
    this.#given = this.#given.with({ first, end: first + count })
  }

  /** Before the log has it: what is noted for nothing only stays where it is. */
  async noteReplaced(inos: readonly Ino[]): Promise<void> {
    if (inos.length === 0) return
    const notes = inos.map((ino) => ({ kind: 'replaced', value: String(ino) }) as const)
    await this.#store.addNotes(this.#identity, notes, this.#nowMs())
    this.#replaced = new Set([...this.#replaced, ...inos])
  }

  isGiven(ino: Ino): boolean {
    return this.#given.has(ino)
  }

  readonly isOwn = (ino: Ino): boolean => this.isGiven(ino) && !this.#replaced.has(ino)
}

function parseRange(value: string): { readonly first: number; readonly end: number } {
  const [first = NaN, count = NaN] = value.split('+').map(Number)
  return { first, end: first + count }
}
