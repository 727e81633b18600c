import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { OpenWorkspace } from '../../workspaces/open-workspace.ts'
import { IndexThread } from './index-thread.ts'
import { WorkspaceIndex } from './workspace-index.ts'

export interface SearchIndexOptions {
  /** Made when it is needed. What is in it can be deleted at any time. */
  readonly directory: string
  /** Hears why contents could not be indexed. Searches scan them. */
  readonly onFailure: (error: unknown) => void
  /** On disk, of all pools. */
  readonly bytesMax?: number
}

export interface SearchIndexStatus {
  readonly contents: number
  readonly bytes: number
  /** Files that are still to be looked at in the background. */
  readonly waiting: number
}

const ordinaryBytesMax = 4 * 2 ** 30

/**
 * Tells which files may have a match, so that a search need not read the others. It belongs to one server, and follows the
 * workspaces that are searched there.
 */
export class SearchIndex {
  readonly #options: SearchIndexOptions
  readonly #thread = new IndexThread()
  readonly #workspaces = new Map<string, WorkspaceIndex>()
  #passes: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(options: SearchIndexOptions) {
    this.#options = options
  }

  /** The longest unused are forgotten first; what they stored stays. */
  of(workspace: OpenWorkspace): WorkspaceIndex {
    const { id } = workspace.info
    let index = this.#workspaces.get(id)
    if (index) this.#workspaces.delete(id)
    else
      index = new WorkspaceIndex({
        workspace,
        thread: this.#thread,
        directory: join(this.#options.directory, workspace.pool),
        takeTurn: (pass) => this.#takeTurn(pass),
        isOver: () => this.#isClosed,
      })
    this.#workspaces.set(id, index)
    return index
  }

  async status(): Promise<SearchIndexStatus> {
    const pools = new Set([...this.#workspaces.values()].map(({ directory }) => directory))
    const sum = { contents: 0, bytes: 0, waiting: 0 }
    for (const directory of pools) {
      const { contents, bytes } = await this.#thread.status(directory)
      sum.contents += contents
      sum.bytes += bytes
    }
    for (const { waiting } of this.#workspaces.values()) sum.waiting += waiting
    return sum
  }

  /** Resolves when nothing is left to be done in the background. */
  async settled(): Promise<void> {
    for (let passes; passes !== this.#passes;) await (passes = this.#passes)
  }

  /** For a workspace that was deleted. Its forks make what they need again. */
  async forget(workspace: string): Promise<void> {
    this.#workspaces.delete(workspace)
    await this.#thread.remove(join(this.#options.directory, workspace))
  }

  /** Drops what the trees that were searched last do not have, and of pools the longest unused ones where there is too much. */
  async tidy(): Promise<void> {
    const byPool = Map.groupBy(this.#workspaces.values(), ({ directory }) => directory)
    for (const [directory, indexes] of byPool) {
      const keys = indexes.map(({ catalog }) => catalog?.keys)
      if (keys.every((each) => each !== undefined))
        await this.#thread.keep(directory, Buffer.concat(keys))
    }
    await this.#dropOld(new Set(byPool.keys()))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#passes
    await this.#thread.close()
  }

  /** One pass after the other: a background has no hurry. */
  #takeTurn(pass: () => Promise<void>): void {
    this.#passes = this.#passes.then(async () => {
      try {
        if (!this.#isClosed) await pass()
      } catch (error) {
        if (!this.#isClosed) this.#options.onFailure(error)
      }
    })
  }

  async #dropOld(inUse: ReadonlySet<string>): Promise<void> {
    const { directory, bytesMax = ordinaryBytesMax } = this.#options
    const pools = await Promise.all(
      (await readdir(directory).catch(() => [])).map((name) => sizeOf(join(directory, name))),
    )
    let bytes = pools.reduce((sum, pool) => sum + pool.bytes, 0)
    for (const pool of pools.toSorted((a, b) => a.changedMs - b.changedMs)) {
      if (bytes <= bytesMax) return
      if (inUse.has(pool.path)) continue
      await rm(pool.path, { recursive: true, force: true })
      bytes -= pool.bytes
    }
  }
}

async function sizeOf(path: string): Promise<{ path: string; bytes: number; changedMs: number }> {
  let bytes = 0
  for (const name of await readdir(path).catch(() => []))
    bytes += await stat(join(path, name)).then(
      ({ size }) => size,
      () => 0,
    )
  const changedMs = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
  return { path, bytes, changedMs }
}
