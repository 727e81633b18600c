import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/** The names under which a server hands out clients: one file for any Node, and executables that need none. */
export const clientName: RegExp = /^cairn-(?:single|linux-(?:x64|arm64)(?:\.gz)?)$/

/** The clients that a server hands out. A file that is replaced while the server runs is hashed again. */
export class ClientFiles {
  readonly #paths: ReadonlyMap<string, string>
  readonly #digests = new Map<string, { readonly of: string; readonly sha256: string }>()

  /** @param paths by name; see `clientName` */
  constructor(paths: ReadonlyMap<string, string>) {
    this.#paths = paths
  }

  findPath(name: string): string | undefined {
    return this.#paths.get(name)
  }

  /** Each with its SHA-256, sorted by name. */
  async list(): Promise<{ readonly name: string; readonly sha256: string }[]> {
    const names = [...this.#paths.keys()].toSorted()
    const found = await Promise.all(names.map((name) => this.#digest(name)))
    return names.flatMap((name, at) => {
      const sha256 = found[at]
      return sha256 === undefined ? [] : [{ name, sha256 }]
    })
  }

  /** Undefined for a file that is gone. */
  async #digest(name: string): Promise<string | undefined> {
    const path = this.#paths.get(name)!
    const found = await stat(path).catch(() => undefined)
    if (!found?.isFile()) return undefined
    const of = `${found.ino} ${found.size} ${found.mtimeMs}`
    const known = this.#digests.get(name)
    if (known?.of === of) return known.sha256
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    const sha256 = hash.digest('hex')
    this.#digests.set(name, { of, sha256 })
    return sha256
  }
}
