import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Cli } from '../cli.ts'
import { configPath } from '../context/config.ts'
import type { Remote } from '../remote/open.ts'

/** The server forgets an unfinished upload after a day. */
const keptMs = 24 * 3600 * 1000

/**
 * Remembers the uploads that were begun, so that `--resume` finds them. A record is known by the place it goes to and
 * the state of the file it comes from: one that was changed in between has none.
 */
export class UploadRecords {
  readonly #directory: string

  constructor(cli: Pick<Cli, 'env' | 'home'>) {
    this.#directory = join(dirname(configPath(cli)), 'uploads')
  }

  keyOf({ server, workspace }: Remote, path: string, identity: string): string {
    const { name, branch = 'main' } = workspace
    const parts = [server, name, branch, path, identity]
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  }

  async find(key: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.#directory, key), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  async save(key: string, uploadId: string): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await this.#forgetOld()
    await writeFile(join(this.#directory, key), uploadId, { mode: 0o600 })
  }

  async forget(key: string): Promise<void> {
    await rm(join(this.#directory, key), { force: true })
  }

  async #forgetOld(): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      const path = join(this.#directory, name)
      const age = await stat(path).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        // Another command has just finished with it.
        () => 0,
      )
      if (age > keptMs) await rm(path, { force: true })
    }
  }
}
