import { closeSync, fchmodSync, openSync, writeSync } from 'node:fs'
import { LocalSink } from '../copy/local-sink.ts'
import { localPath } from '../copy/local-path.ts'
import type { Moving, Opener, TreeEntry } from '../copy/tree.ts'

/**
 * A directory that no other process knows yet: a file that is written in place shows no reader a half of it. Without a
 * name for the meantime, and without a thread for each call, 10,000 small files take a fifth of the time.
 */
export class NewDirectory extends LocalSink {
  readonly #root: string

  constructor(root: string) {
    super(root, { resume: false })
    this.#root = root
  }

  override async writeFile(entry: TreeEntry, open: Opener, moving: Moving): Promise<void> {
    const content = await open()
    if (!(content instanceof Uint8Array)) return super.writeFile(entry, async () => content, moving)
    const fd = openSync(localPath(this.#root, entry.path), 'wx', 0o600)
    try {
      for (let at = 0; at < content.length;) at += writeSync(fd, content, at)
      fchmodSync(fd, entry.mode & 0o777)
    } finally {
      closeSync(fd)
    }
    moving.onBytes(content.length)
  }
}
