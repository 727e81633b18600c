import { randomUUID } from 'node:crypto'
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type ObjectRange,
  checkKey,
  checkPrefix,
  type ObjectInfo,
  objectMissing,
  type ObjectStore,
} from '../object-store.ts'
import { privateFileMode } from '../private-files.ts'
import { shareTurns } from './share-turns.ts'
import { makeDirectory, syncDirectory, tryMakeDirectory } from './durable-files.ts'
import { diskError, isMissing } from './errors.ts'

/** No key begins with a dot, so it is never listed. Inside, because a rename does not leave its disk. */
const temporary = '.tmp'

/** Objects as files under one directory, a key's slashes as directories. */
export class DiskObjectStore implements ObjectStore {
  readonly #directory: string
  /** Those known to be on disk, or on their way. */
  readonly #madeDirectories = new Map<string, Promise<void>>()
  readonly #syncNames = shareTurns(syncDirectory)

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Removes what a crash left half written. One process at a time: see DirectoryLock. */
  static async open(directory: string): Promise<DiskObjectStore> {
    try {
      const path = join(directory, temporary)
      await rm(path, { recursive: true, force: true })
      await makeDirectory(path)
      await syncDirectory(dirname(directory))
      return new DiskObjectStore(directory)
    } catch (error) {
      throw diskError('open', directory, error)
    }
  }

  async put(key: string, ...parts: readonly Uint8Array[]): Promise<void> {
    const path = this.#path(key)
    const draft = join(this.#directory, temporary, randomUUID())
    try {
      await this.#makeDirectory(dirname(path))
      await writeSynced(draft, parts)
      // A name only ever points at whole bytes: the content is on disk before, the name after.
      await rename(draft, path)
      await this.#syncNames(dirname(path))
      // DURABLE: bytes, name and the directories above it are on disk.
    } catch (error) {
      await rm(draft, { force: true })
      throw diskError('write', path, error)
    }
  }

  async get(key: string, range?: ObjectRange): Promise<Uint8Array> {
    const path = this.#path(key)
    try {
      return range ? await readRange(path, range) : await readFile(path)
    } catch (error) {
      throw isMissing(error) ? objectMissing(key, error) : diskError('read', path, error)
    }
  }

  async delete(key: string): Promise<void> {
    const path = this.#path(key)
    try {
      await rm(path, { force: true })
    } catch (error) {
      throw diskError('delete', path, error)
    }
  }

  async *list(prefix: string, after = ''): AsyncGenerator<ObjectInfo> {
    checkPrefix(prefix)
    try {
      for await (const key of walk(this.#directory, prefix)) {
        if (key <= after) continue
        const size = await findSize(join(this.#directory, key))
        if (size !== undefined) yield { key, sizeBytes: size }
      }
    } catch (error) {
      throw diskError('list', this.#directory, error)
    }
  }

  async close(): Promise<void> {}

  #path(key: string): string {
    checkKey(key)
    return join(this.#directory, key)
  }

  /**
   * Once for each directory, and shared by concurrent callers: no caller goes on before it and all
   * above it are on disk. An existing one may have been made just before a crash, so it is synced
   * as well.
   */
  #makeDirectory(path: string): Promise<void> {
    if (path === this.#directory) return Promise.resolve()
    let made = this.#madeDirectories.get(path)
    if (!made) {
      made = this.#makeOneDirectory(path)
      this.#madeDirectories.set(path, made)
      made.catch(() => this.#madeDirectories.delete(path))
    }
    return made
  }

  async #makeOneDirectory(path: string): Promise<void> {
    await this.#makeDirectory(dirname(path))
    await tryMakeDirectory(path)
    await syncDirectory(dirname(path))
  }
}

async function writeSynced(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'wx', privateFileMode)
  try {
    // One by one: a writev may write less than it was given, and would have to be cut where it ended.
    for (const part of parts) await file.writeFile(part)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function readRange(path: string, { start, length }: ObjectRange): Promise<Uint8Array> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const bytes = new Uint8Array(Math.max(0, Math.min(length, size - start)))
    for (let at = 0; at < bytes.length;) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at)
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`)
      at += bytesRead
    }
    return bytes
  } finally {
    await file.close()
  }
}

/** Keys in order. A directory sorts by its name with the slash that follows it in a key. */
async function* walk(root: string, prefix: string): AsyncGenerator<string> {
  const names = await listDirectory(join(root, prefix))
  for (const name of names.sort()) {
    if (name.endsWith('/')) yield* walk(root, `${prefix}${name}`)
    else yield `${prefix}${name}`
  }
}

async function listDirectory(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries
      .filter(({ name }) => name !== temporary)
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function findSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
