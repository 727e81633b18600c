import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SandboxLog } from './sandbox-log.ts'

const keptMs = 7 * 86_400_000

/** The logs of all sandboxes, also of those that have ended. */
export class SandboxLogs {
  readonly #directory: string
  readonly #open = new Map<string, SandboxLog>()

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Deletes those to which nothing was added for a week. */
  static async open(directory: string): Promise<SandboxLogs> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    for (const name of await readdir(directory)) {
      const path = join(directory, name)
      const { mtimeMs } = await stat(path)
      if (mtimeMs < Date.now() - keptMs) await rm(path)
    }
    return new SandboxLogs(directory)
  }

  /** That of a sandbox that lives. */
  of(id: string): SandboxLog {
    const found = this.#open.get(id) ?? new SandboxLog(this.#path(id))
    this.#open.set(id, found)
    return found
  }

  /** The sandbox has ended, and adds nothing more. */
  async close(id: string): Promise<void> {
    await this.#open.get(id)?.read()
    this.#open.delete(id)
  }

  async find(id: string): Promise<SandboxLog | undefined> {
    const open = this.#open.get(id)
    if (open !== undefined) return open
    const isThere = /^[a-z0-9]+$/.test(id) && (await readdir(this.#directory)).includes(`${id}.log`)
    return isThere ? new SandboxLog(this.#path(id)) : undefined
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.log`)
  }
}
