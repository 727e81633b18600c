import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { CairnError } from '@cairn/protocol'
import type { Database } from '../storage/database.ts'
import { DiskObjectStore } from '../storage/disk/disk-object-store.ts'
import { diskError } from '../storage/disk/errors.ts'
import { migrate } from '../storage/migrate.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { privateDirectoryMode } from '../storage/private-files.ts'
import { SqliteDatabase } from '../storage/sqlite/sqlite-database.ts'
import type { VerifyPlace } from './place.ts'
import { type Finding, fail, ok } from './report.ts'

/** The cases write some hundred MiB, and a disk that is nearly full fails for another reason than they say. */
const freeBytesMin = 1 << 30

/** Scratch stores as directories in a server's data directory, whether its server runs or not. */
export class DirectoryPlace<
  Store extends { close(): Promise<void> },
> implements VerifyPlace<Store> {
  readonly name: string
  readonly makeHint: string
  readonly #open: (directory: string) => Promise<Store>
  readonly #opened = new Map<string, Store>()

  private constructor(directory: string, open: (directory: string) => Promise<Store>) {
    this.name = directory
    this.makeHint = `Give this user write access: chmod u+rwx ${directory}`
    this.#open = open
  }

  static database(directory: string): Promise<DirectoryPlace<Database>> {
    return DirectoryPlace.#of<Database>(directory, async (scratch) => {
      const database = await SqliteDatabase.open(join(scratch, 'meta.db'))
      await migrate(database)
      return database
    })
  }

  static objects(directory: string): Promise<DirectoryPlace<ObjectStore>> {
    return DirectoryPlace.#of<ObjectStore>(directory, (scratch) =>
      DiskObjectStore.open(join(scratch, 'objects')),
    )
  }

  static async #of<Store extends { close(): Promise<void> }>(
    directory: string,
    open: (directory: string) => Promise<Store>,
  ): Promise<DirectoryPlace<Store>> {
    // A server would make it. This check leaves nothing behind.
    if (!(await stat(directory).catch(() => undefined))?.isDirectory())
      throw new CairnError('storage_misconfigured', {
        what: `use ${directory}`,
        reason: 'there is no such directory',
        subject: directory,
      })
    return new DirectoryPlace(directory, open)
  }

  async list(): Promise<readonly string[]> {
    return readdir(this.name).catch((error: unknown) => {
      throw diskError('read', this.name, error)
    })
  }

  async make(name: string): Promise<Store> {
    const scratch = join(this.name, name)
    await mkdir(scratch, { mode: privateDirectoryMode }).catch((error: unknown) => {
      throw diskError('make', scratch, error)
    })
    const store = await this.#open(scratch)
    this.#opened.set(name, store)
    return store
  }

  async remove(name: string): Promise<void> {
    await this.#opened.get(name)?.close()
    this.#opened.delete(name)
    await rm(join(this.name, name), { recursive: true, force: true })
  }

  removal(name: string): string {
    return `rm -r ${join(this.name, name)}`
  }

  async check(): Promise<readonly Finding[]> {
    const { bavail, bsize } = await statfs(this.name)
    const free = bavail * bsize
    const says = `${Math.floor(free / (1 << 20))} MiB are free`
    return [
      free >= freeBytesMin
        ? ok('space', says)
        : fail('space', `${says}, and 1 GiB is needed`, `Free some: du -sh ${this.name}`),
    ]
  }

  async close(): Promise<void> {}
}
