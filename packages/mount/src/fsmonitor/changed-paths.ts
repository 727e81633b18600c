import { type ByteString, type Ino, isFsError, type Name } from '@cairn/protocol'
import type { Image } from '../image/image.ts'
import type { ChangedThings } from '../image/last-changes.ts'
import { ImageMiss } from '../image/miss.ts'

/** No name of a file in a repository. Git, told of it, looks at the names of its directory again. */
const anyName = '.cairn' as Name
/** Loading more than this takes longer than the look at all files that it saves. */
const loadsMax = 200

/** Where to begin, and where paths lead that do not matter. */
export interface Tops {
  /** Paths are given relative to this directory. */
  readonly top: Ino
  /** The directory that is mounted. */
  readonly root: Ino
}

/** Thrown where it is simpler, or the only way, to say that everything may have changed. */
class Unclear extends Error {}

/**
 * The paths below `top` that changed, each where it is now. A thing that was renamed has its old and its new name among the
 * changed names, and one that is gone has the name of what was removed. A name also stands for all that was or is below
 * it. Undefined where everything may have changed.
 */
export async function changedPaths(
  image: Image,
  load: (miss: ImageMiss) => Promise<void>,
  tops: Tops,
  changed: ChangedThings,
): Promise<readonly ByteString[] | undefined> {
  const gone = new Set<Ino>()
  for (let loads = 0; loads < loadsMax; loads++)
    try {
      return new PathFinder(image, tops, gone).find(changed)
    } catch (error) {
      if (error instanceof Unclear) return undefined
      if (!(error instanceof ImageMiss)) throw error
      await load(error).catch((failure: unknown) => {
        if (!isFsError(failure, 'ESTALE')) throw failure
        gone.add(error.ino)
      })
    }
  return undefined
}

class PathFinder {
  readonly #image: Image
  readonly #tops: Tops
  readonly #gone: ReadonlySet<Ino>
  /** Relative paths of directories, with a slash at the end. Undefined for what is not below the top. */
  readonly #directories = new Map<Ino, ByteString | undefined>()
  readonly #paths = new Set<ByteString>()

  /** `gone`: what the server says is not there. */
  constructor(image: Image, { top, root }: Tops, gone: ReadonlySet<Ino>) {
    this.#image = image
    this.#tops = { top, root }
    this.#gone = gone
    this.#directories.set(top, '')
  }

  find({ inodes, names, unknown }: ChangedThings): readonly ByteString[] {
    for (const { parent, name } of names) this.#addName(parent, name)
    for (const ino of inodes) this.#addFile(ino)
    for (const ino of unknown)
      if (this.#isDirectory(ino)) this.#addListing(ino)
      else this.#addFile(ino)
    return [...this.#paths]
  }

  #addName(parent: Ino, name: Name): void {
    const directory = this.#pathOf(parent)
    if (directory === undefined || isOfGit(directory, name)) return
    this.#paths.add(`${directory}${name}`)
    this.#paths.add(`${directory}${name}/`)
  }

  #addFile(ino: Ino): void {
    for (const { parent, name } of this.#namesOf(ino)) {
      const directory = this.#pathOf(parent)
      if (directory === undefined || isOfGit(directory, name)) continue
      if (this.#image.child(parent, name)?.ino !== ino) throw new Unclear()
      this.#paths.add(`${directory}${name}`)
    }
  }

  #addListing(ino: Ino): void {
    const directory = this.#pathOf(ino)
    if (directory === undefined || isOfGit(directory, '' as Name)) return
    if (directory === '') throw new Unclear()
    this.#paths.add(directory)
    this.#paths.add(`${directory}${anyName}`)
  }

  /** One that is gone has none: the change of its name, or of a directory above it, was noted as well. */
  #namesOf(ino: Ino): readonly { readonly parent: Ino; readonly name: Name }[] {
    if (this.#gone.has(ino)) return []
    const { home, nlink } = this.#image.inode(ino)!
    if (home) return [home]
    const links = this.#image.links(ino)
    if (links.length !== nlink) throw new Unclear()
    return links
  }

  #isDirectory(ino: Ino): boolean {
    return !this.#gone.has(ino) && this.#image.inode(ino)!.kind === 'directory'
  }

  #pathOf(ino: Ino): ByteString | undefined {
    if (this.#directories.has(ino)) return this.#directories.get(ino)
    const path = this.#findPath(ino)
    this.#directories.set(ino, path)
    return path
  }

  #findPath(ino: Ino): ByteString | undefined {
    if (ino === this.#tops.root || this.#gone.has(ino)) return undefined
    const { home } = this.#image.inode(ino)!
    if (!home) return undefined
    const above = this.#pathOf(home.parent)
    if (above === undefined) return undefined
    // What is known of a directory may be older than what is known of its name.
    if (this.#image.child(home.parent, home.name)?.ino !== ino) throw new Unclear()
    return `${above}${home.name}/`
  }
}

/** Git does not ask about its own files, and changes many of them. */
function isOfGit(directory: ByteString, name: Name): boolean {
  return directory.startsWith('.git/') || (directory === '' && name === '.git')
}
