import type { Workspace } from '@cairn/sdk'
import { parseResource } from './resource-uri.ts'
import type { McpSite } from './site.ts'

/** Each is a stream of events at the Cairn server. */
const watchedMax = 100

/** Watches files for one client, fed by the log. */
export class ResourceWatch {
  readonly #site: McpSite
  readonly #changed: (uri: string) => void
  readonly #watched = new Map<string, AbortController>()

  constructor(site: McpSite, changed: (uri: string) => void) {
    this.#site = site
    this.#changed = changed
  }

  /**
   * Resolves when no later change can be missed. What cannot be watched (the past, an unknown address, more than the most)
   * is left out: its subscription stays silent.
   */
  async add(uris: readonly string[]): Promise<void> {
    await Promise.allSettled(uris.map((uri) => this.#begin(uri)))
  }

  remove(uri: string): void {
    this.#watched.get(uri)?.abort()
    this.#watched.delete(uri)
  }

  close(): void {
    for (const uri of this.#watched.keys()) this.remove(uri)
  }

  async #begin(uri: string): Promise<void> {
    if (this.#watched.has(uri) || this.#watched.size >= watchedMax) return
    const { workspace: name, path, layer, at } = parseResource(uri)
    if (at !== undefined) return
    const ending = new AbortController()
    this.#watched.set(uri, ending)
    const { signal } = ending
    const workspace = this.#site.connect().workspace(name, { layer })
    try {
      const after = await newestSeq(workspace, signal)
      void this.#follow(uri, workspace.files.watch(path, { after, signal }))
    } catch (error) {
      this.remove(uri)
      throw error
    }
  }

  /** Ends when it is removed, or when the server says no: a token that is over, a workspace that is gone. */
  async #follow(uri: string, changes: AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const _ of changes) this.#changed(uri)
    } catch {
      this.remove(uri)
    }
  }
}

async function newestSeq(workspace: Workspace, signal: AbortSignal): Promise<number> {
  for await (const { seq } of workspace.log({ order: 'newest', pageSize: 1, signal })) return seq
  return 0
}
