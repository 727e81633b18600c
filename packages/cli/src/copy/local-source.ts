import { createReadStream, openAsBlob, type Stats } from 'node:fs'
import { lstat, readdir, readFile, readlink, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ByteString } from '@cairn/protocol'
import type { FileContent } from '@cairn/sdk'
import { notCopyable } from './failures.ts'
import { kindOf, localPath, showLocal } from './local-path.ts'
import type { TreeEntry, TreeSource } from './tree.ts'

/** Up to here a file is read and sent in one go, which is quicker; above, block by block. */
const wholeBytesMax = 8 << 20

/** Files of this machine. A symlink that was named is followed; those below are copied as symlinks. */
export class LocalSource implements TreeSource {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  async *entries(): AsyncGenerator<TreeEntry> {
    const root = await this.#entry('', await stat(this.#root))
    yield root
    if (root.kind === 'directory') yield* this.#below('')
  }

  async open(entry: TreeEntry): Promise<FileContent> {
    const path = localPath(this.#root, entry.path)
    const isPipe = entry.kind === 'fifo' || entry.kind === 'character'
    // One that was named, such as /dev/stdin, is read; one that is met on the way would never end.
    if (isPipe && entry.path === '') return streamFile(path)
    if (entry.kind !== 'file') throw notCopyable(showLocal(this.#root, entry.path), entry.kind)
    // Files of /proc say that they are empty, and are not.
    return entry.size <= wholeBytesMax ? readFile(path) : openAsBlob(path)
  }

  async *#below(directory: ByteString): AsyncGenerator<TreeEntry> {
    const names = await readdir(localPath(this.#root, directory), { encoding: 'buffer' })
    for (const name of names.toSorted((a, b) => Buffer.compare(a, b))) {
      const path =
        directory === '' ? name.toString('latin1') : `${directory}/${name.toString('latin1')}`
      const entry = await this.#entry(path, await lstat(localPath(this.#root, path)))
      yield entry
      if (entry.kind === 'directory') yield* this.#below(path)
    }
  }

  async #entry(path: ByteString, stats: Stats): Promise<TreeEntry> {
    const target = stats.isSymbolicLink()
      ? await readlink(localPath(this.#root, path), { encoding: 'buffer' })
      : Buffer.alloc(0)
    return entryOf(path, stats, () => target)
  }
}

export function entryOf(path: ByteString, stats: Stats, readTarget: () => Buffer): TreeEntry {
  const { size, mode, ino, mtimeMs, ctimeMs } = stats
  const version = [ino, size, mtimeMs, ctimeMs].join('-')
  const entry = { path, kind: kindOf(stats), size, mode: mode & 0o7777, version }
  return entry.kind === 'symlink' ? { ...entry, target: readTarget().toString('latin1') } : entry
}

function streamFile(path: Buffer): ReadableStream<Uint8Array> {
  return Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>
}
