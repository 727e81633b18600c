import { randomBytes } from 'node:crypto'
import { chmod, link, lstat, mkdir, rename, rm, stat, symlink } from 'node:fs/promises'
import type { ByteString } from '@cairn/protocol'
import { isEntryFailure } from './failures.ts'
import { localPath } from './local-path.ts'
import { findPartial, resumeFile, saveFile } from './save-file.ts'
import {
  type FailedEntry,
  type Moving,
  type Opener,
  type TreeEntry,
  type TreeSink,
  UnmadeDirectories,
} from './tree.ts'

/** Files of this machine. Each appears whole or not at all. */
export class LocalSink implements TreeSink {
  readonly #root: string
  readonly #modes: { readonly path: Buffer; readonly mode: number }[] = []

  readonly #resume: boolean

  /** With `resume`, what is left of an earlier copy is gone on with, and what is left of this one is kept. */
  constructor(root: string, { resume }: { readonly resume: boolean }) {
    this.#root = root
    this.#resume = resume
  }

  async makeDirectories(entries: readonly TreeEntry[]): Promise<FailedEntry[]> {
    const failed: FailedEntry[] = []
    const unmade = new UnmadeDirectories()
    for (const entry of entries) {
      if (unmade.hold(entry.path)) continue
      try {
        await this.#makeDirectory(entry)
      } catch (error) {
        if (!isEntryFailure(error)) throw error
        failed.push({ path: entry.path, error })
        unmade.add(entry.path)
      }
    }
    return failed
  }

  async #makeDirectory({ path: below, mode }: TreeEntry): Promise<void> {
    const path = localPath(this.#root, below)
    try {
      // Open for us until what is in it is there.
      await mkdir(path, { mode: 0o700 | mode, recursive: below === '' })
      if (below !== '') this.#modes.push({ path, mode: mode & 0o777 })
    } catch (error) {
      // A symlink in its place would lead the rest of the copy to somewhere else; only one that was named may.
      const look = below === '' ? stat : lstat
      const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST'
      if (!isThere || !(await look(path)).isDirectory()) throw error
    }
  }

  async writeFile(entry: TreeEntry, open: Opener, { signal, onBytes }: Moving): Promise<void> {
    const path = localPath(this.#root, entry.path)
    const options = { mode: entry.mode & 0o777, signal, onBytes }
    if (!this.#resume) return saveFile(path, await open(), options)
    const partial = await findPartial(path, entry.version)
    const content = await open(partial.bytes)
    onBytes(partial.bytes)
    await resumeFile(path, partial, content, options)
  }

  makeSymlink({ path: below, target = '' }: TreeEntry): Promise<void> {
    return this.#replace(below, (path) => symlink(Buffer.from(target, 'latin1'), path))
  }

  /** Another name of a file that is in the copy already. */
  makeLink(below: ByteString, target: ByteString): Promise<void> {
    return this.#replace(below, (path) => link(localPath(this.#root, target), path))
  }

  async #replace(below: ByteString, make: (path: Buffer) => Promise<void>): Promise<void> {
    const path = localPath(this.#root, below)
    const slash = path.lastIndexOf('/') + 1
    const name = `.cairn-${randomBytes(8).toString('hex')}.tmp`
    const temporary = Buffer.concat([path.subarray(0, slash), Buffer.from(name)])
    await make(temporary)
    try {
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  /** Children first: a directory that may not be written to is closed when it is full. */
  async finish(): Promise<void> {
    for (const { path, mode } of this.#modes.toReversed()) await chmod(path, mode)
  }
}
