import { blobBytesMax, type Data, type Kind, type Link, type Op } from '@cairn/core'
import { type Ino, rootIno } from '@cairn/protocol'
import { makeBytes } from './make-bytes.ts'
import type { ModelInode } from './model-inode.ts'
import type { Model } from './model.ts'
import type { Step, StepData } from './step.ts'

/** Unused numbers. */
const unknownInos = [999_999, 2 ** 40] as Ino[]

/** Stores bytes as a blob and says how an operation names a part of it. */
export type StoreBlob = (bytes: Uint8Array, start: number, length: number) => Promise<Data>

/**
 * Makes operations of steps, against a model as it is at that moment. Most of what is drawn becomes something that
 * is there and of the kind that is wanted, so that most operations do something; some becomes anything.
 */
export class Resolver {
  /** Every number given so far, also of what is gone. */
  readonly inos: Ino[] = [rootIno]
  readonly #storeBlob: StoreBlob

  constructor(storeBlob: StoreBlob) {
    this.#storeBlob = storeBlob
  }

  nextIno(): Ino {
    const ino = (this.inos.at(-1)! + 1) as Ino
    this.inos.push(ino)
    return ino
  }

  async resolve(step: Step, model: Model): Promise<Op> {
    const names = model.names()
    const all = [...names.keys()]
    const inode = (drawn: Ino): Ino => this.#pick(drawn, all)
    const files = all.filter(({ kind }) => kind === 'file')
    const file = (drawn: Ino): Ino => this.#pick(drawn, files)
    const directories = all.filter(
      (each) => each.kind === 'directory' && (each === model.root || names.get(each)!.length > 0),
    )
    const directory = (drawn: Ino): Ino => this.#pick(drawn, directories)
    const free = ({ parent, name }: Link): Link => ({ parent: directory(parent), name })
    /** A name that is there, or in a few cases one that may not be. */
    const taken = (drawn: Link, wants: (kind: Kind) => boolean): Link => {
      const choices = [...names].flatMap(([{ kind }, links]) => (wants(kind) ? links : []))
      const choice = choices[Math.floor(drawn.parent / 8) % choices.length]
      if (!choice || drawn.parent % 8 === 7) return free(drawn)
      return { parent: choice.directory.ino, name: choice.name }
    }
    switch (step.type) {
      case 'create': {
        const { targetBytes, ...rest } = step
        const target = step.kind === 'symlink' ? makeBytes(1, targetBytes) : undefined
        const ino = step.ino === null ? this.nextIno() : rootIno
        return { ...rest, ...free(step), ino, target }
      }
      case 'link':
        return { ...step, ...free(step), ino: file(step.ino) }
      case 'unlink':
        return { ...step, ...taken(step, (kind) => kind !== 'directory') }
      case 'rmdir':
        return { ...step, ...taken(step, (kind) => kind === 'directory') }
      case 'rename': {
        const drawn = { parent: step.newParent, name: step.newName }
        const to = step.newParent % 2 === 0 ? free(drawn) : taken(drawn, () => true)
        return { ...step, ...taken(step, () => true), newParent: to.parent, newName: to.name }
      }
      case 'setattr':
        return { ...step, ino: step.size === undefined ? inode(step.ino) : file(step.ino) }
      case 'write':
        return { ...step, ino: file(step.ino), data: await this.#data(step.data) }
      case 'append':
        return { ...step, ino: file(step.ino), data: await this.#data(step.data) }
      case 'fallocate':
        return { ...step, ino: file(step.ino) }
      case 'copy':
        return { ...step, from: file(step.from), ino: file(step.ino) }
      case 'setxattr': {
        const { valueBytes, ...rest } = step
        return { ...rest, ino: inode(step.ino), value: makeBytes(valueBytes, valueBytes) }
      }
      case 'removexattr':
        return { ...step, ino: inode(step.ino) }
      case 'reap': {
        const nameless = all.filter((each) => names.get(each)!.length === 0)
        return { ...step, ino: this.#pick(step.ino, nameless) }
      }
    }
  }

  #pick(drawn: Ino, wanted: readonly ModelInode[]): Ino {
    const goesAstray = drawn % 16 === 15 || wanted.length === 0
    const choices = goesAstray ? [...this.inos, ...unknownInos] : wanted.map(({ ino }) => ino)
    return choices[Math.floor(drawn / 16) % choices.length]!
  }

  async #data({ salt, length, head, tail, stored }: StepData): Promise<Data> {
    const bytes = makeBytes(salt, length).fill(0, 0, head)
    bytes.fill(0, Math.max(0, length - tail))
    if (!stored) return { type: 'bytes', bytes }
    return this.store(bytes, stored.before, stored.after)
  }

  /** As a part of a blob with so many bytes around it; as bytes where no blob is large enough. */
  async store(bytes: Uint8Array, before: number, after: number): Promise<Data> {
    // Writers see to it that no blob ends with a zero: as a block it would be another one than the fold makes.
    const behind = bytes.at(-1) === 0 ? 1 : after
    const blob = makeBytes(bytes.length, before + bytes.length + behind)
    if (blob.length > blobBytesMax) return { type: 'bytes', bytes }
    blob.set(bytes, before)
    return this.#storeBlob(blob, before, bytes.length)
  }
}
