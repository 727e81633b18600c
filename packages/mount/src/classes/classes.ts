import { homesOf, type Op, type View } from '@cairn/core'
import type { ByteString, Ino } from '@cairn/protocol'
import type { DeferringClass } from '../data/spool-record.ts'
import { type Classify, compileProfile, type PathClass, type Profile } from './profile.ts'

/** Shows the class of a file or directory. It is no part of the tree. */
export const classAttribute = 'user.cairn.class' as ByteString

/** Says which changes wait. */
export class Classes {
  readonly #image: View
  readonly #root: () => Ino
  /** Undefined where everything is durable. */
  readonly #classify: Classify | undefined

  /** With the directory that is mounted. */
  constructor(image: View, root: () => Ino, profile: Profile | undefined) {
    this.#image = image
    this.#root = root
    this.#classify = profile && compileProfile(profile)
  }

  /** The class of a directory, or of the directory that has a file. Throws ImageMiss. */
  of(ino: Ino): PathClass {
    const [home = ino] = homesOf(this.#image, ino)
    return this.#classify?.(this.#namesOf(home)) ?? 'durable'
  }

  /** Undefined where the mount has no profile. */
  attributeOf(ino: Ino): Uint8Array | undefined {
    return this.#classify && new TextEncoder().encode(this.of(ino))
  }

  /**
   * The class in which an operation waits: all directories that it concerns have that class. What crosses a border is
   * durable, and so is a copy, because the server reads its source when it is replayed.
   */
  deferralOf(op: Op, directories: readonly Ino[]): DeferringClass | undefined {
    const classify = this.#classify
    if (!classify || op.type === 'copy' || directories.length === 0) return undefined
    const classes = new Set(directories.map((ino) => classify(this.#namesOf(ino))))
    const [only] = classes
    return classes.size > 1 || only === 'durable' ? undefined : only
  }

  #namesOf(directory: Ino): readonly string[] {
    const names: string[] = []
    for (let ino = directory; ino !== this.#root();) {
      const home = this.#image.inode(ino)?.home
      if (!home) return names
      names.unshift(home.name)
      ino = home.parent
    }
    return names
  }
}
