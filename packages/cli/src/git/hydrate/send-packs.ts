import { gatherChunks, tarEnd } from '@cairn/protocol'
import type { Files } from '@cairn/sdk'
import type { Cli } from '../../cli.ts'
import { LocalSource } from '../../copy/local-source.ts'
import { remotePath } from '../../copy/remote-path.ts'
import { tarEntry } from '../../copy/stream-tree.ts'
import type { TreeEntry } from '../../copy/tree.ts'
import { ProgressBar } from '../../output/progress.ts'

/** Sends packs that git has fetched, each time those that are new, as one change. */
export class PackSender {
  bytes = 0
  readonly #cli: Cli
  readonly #files: Files
  readonly #gitPath: string
  readonly #source: LocalSource
  readonly #sent = new Set<string>()

  constructor(cli: Cli, files: Files, gitPath: string, packs: string) {
    this.#cli = cli
    this.#files = files
    this.#gitPath = gitPath
    this.#source = new LocalSource(packs)
  }

  async send(): Promise<void> {
    const { signal } = this.#cli
    const fresh: TreeEntry[] = []
    for await (const entry of this.#source.entries())
      if (/^pack-\w+\.(?:pack|idx|rev|promisor)$/.test(entry.path) && !this.#sent.has(entry.path))
        fresh.push(entry)
    if (fresh.length === 0) return
    const place = remotePath(this.#gitPath, 'objects/pack')
    const receipt = await this.#files.importTar(place, () => gatherChunks(this.#tarOf(fresh)), {
      times: 'now',
      signal,
    })
    this.bytes += receipt.bytes
    for (const { path } of fresh) this.#sent.add(path)
  }

  async *#tarOf(entries: readonly TreeEntry[]): AsyncGenerator<Uint8Array> {
    const bar = new ProgressBar(this.#cli)
    const progress = { bar, found: () => {} }
    for (const entry of entries)
      yield* tarEntry(this.#source, entry, { progress, signal: this.#cli.signal })
    await bar.clear()
    yield tarEnd
  }
}
