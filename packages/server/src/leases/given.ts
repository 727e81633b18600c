import {
  directoriesOf,
  homesOf,
  type NamedDentry,
  type Op,
  type Steps,
  type View,
} from '@cairn/core'
import { FsError, type Ino, isCairnError, isFsError, type Name } from '@cairn/protocol'

/** A change concerns directories that were not asked for. The caller asks for them and tries again. */
export class MoreDirectories extends FsError {
  readonly inos: readonly Ino[]

  constructor(inos: readonly Ino[]) {
    super('EAGAIN')
    this.inos = inos
  }
}

/** What the operations themselves make is known to no other client. */
export function concernedBy(view: View, ops: readonly Op[]): readonly Ino[] {
  const concerned = ops.flatMap((op) => directoriesOf(view, op)).filter((ino) => view.inode(ino))
  return [...new Set(concerned)]
}

function changesNameless(view: View, op: Op): boolean {
  return 'ino' in op && view.inode(op.ino) !== undefined && homesOf(view, op.ino).length === 0
}

/** The directories that no other session holds for one change of a client. */
export class Given {
  readonly #isHeld: (ino: Ino) => boolean
  readonly inos: Set<Ino> = new Set()
  /**
   * Those that the change concerns, as it was last decided. Undefined where they do not tell which sessions show it: the
   * log had it before, or it changes a file without a name, which any session may have open.
   */
  changed: readonly Ino[] | undefined

  /** `isHeld`: whether the client itself holds the directory. A change that concerns no others needs to ask for none. */
  constructor(isHeld: (ino: Ino) => boolean) {
    this.#isHeld = isHeld
  }

  /** Nothing was asked for yet. */
  get isNew(): boolean {
    return this.inos.size === 0
  }

  /** Throws MoreDirectories. */
  require(view: View, ops: readonly Op[]): void {
    const concerned = concernedBy(view, ops)
    this.changed = ops.some((op) => changesNameless(view, op)) ? undefined : concerned
    this.#requireAll(concerned)
  }

  /**
   * For a change by path. The path may have led elsewhere, or to nothing, because of changes that the holder has acknowledged and
   * not sent. So a change, and also a refusal, holds only when the holder has given back each directory that was looked into.
   */
  *deciding<T>(looked: LookedView, decide: () => Steps<T>): Steps<T> {
    try {
      const decided = yield* decide()
      this.#requireAll(looked.directories)
      return decided
    } catch (error) {
      if (isFsError(error) || isCairnError(error, 'precondition_failed'))
        this.#requireAll(looked.directories)
      throw error
    }
  }

  #requireAll(inos: Iterable<Ino>): void {
    const missing = [...inos].filter((ino) => !this.inos.has(ino))
    if (!missing.every(this.#isHeld)) throw new MoreDirectories(missing)
  }
}

/**
 * Notes which directories were looked into, and which have the files that were looked at. A name that leads to a directory
 * concerns that directory and not the one with the name: only a client that holds both can move or remove it. So a path
 * takes nothing away from the holder of the directories above it, such as the root.
 */
export class LookedView implements View {
  readonly directories: Set<Ino> = new Set()
  readonly #view: View

  constructor(view: View) {
    this.#view = view
  }

  inode(ino: Ino): ReturnType<View['inode']> {
    const inode = this.#view.inode(ino)
    if (inode) for (const home of homesOf(this.#view, ino)) this.directories.add(home)
    return inode
  }

  child(parent: Ino, name: Name): ReturnType<View['child']> {
    const dentry = this.#view.child(parent, name)
    this.#note(dentry?.kind === 'directory' ? dentry.ino : parent)
    return dentry
  }

  links(ino: Ino): ReturnType<View['links']> {
    return this.#view.links(ino)
  }

  blockFrom(ino: Ino, index: number): ReturnType<View['blockFrom']> {
    return this.#view.blockFrom(ino, index)
  }

  entries(parent: Ino, after: Name | undefined, limit: number): readonly NamedDentry[] {
    this.#note(parent)
    return this.#view.entries(parent, after, limit)
  }

  /** One that the change itself makes has another number each time it is decided, and no other client knows it. */
  #note(directory: Ino): void {
    if (this.#view.inode(directory)) this.directories.add(directory)
  }
}
