import type { ByteString } from '@cairn/protocol'
import type { ImportedInodes } from '@cairn/sdk'
import type { IndexStat } from './index-file.ts'

export type SentStat = Pick<IndexStat, 'ino' | 'size' | 'ctimeNs'>

/** What was sent in an archive, in its order, to be put together with the inodes that it became. */
export class SentEntries {
  #entries: { readonly path: ByteString; readonly size: number }[] = []

  /** A request that is repeated sends all of it again. */
  begin(): (path: ByteString, size: number) => void {
    const entries: { path: ByteString; size: number }[] = []
    this.#entries = entries
    return (path, size) => void entries.push({ path, size })
  }

  stats(inodes: ImportedInodes): ReadonlyMap<ByteString, SentStat> {
    const stats = new Map<ByteString, SentStat>()
    let at = 0
    for (const { first, count, ctimeNs: ctime } of inodes) {
      const ctimeNs = BigInt(ctime)
      for (let ino = first; ino < first + count; ino++) {
        const { path, size } = this.#entries[at++]!
        stats.set(path, { ino, size, ctimeNs })
      }
    }
    return stats
  }
}
