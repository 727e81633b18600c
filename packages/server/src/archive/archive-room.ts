import { CairnError } from '@cairn/protocol'
import type { ArchiveEntry } from './receive-archive.ts'

/** For one archive: a million entries with short names. */
const oneMax = 400 << 20
/** For all archives that come at the same time. */
const allMax = 1 << 30
const entryBytes = 300
const pieceBytes = 120

let held = 0

/** The memory that the list of an archive's entries takes, about, until they are put into the tree. */
export class ArchiveRoom {
  #bytes = 0

  /** Refuses by throwing, before the entry is kept. */
  take({ names, target = '', pieces }: ArchiveEntry): void {
    const letters = names.reduce((sum, { length }) => sum + length, target.length)
    const bytes = entryBytes + letters + 30 * names.length + pieces.length * pieceBytes
    if (this.#bytes + bytes > oneMax)
      throw new CairnError('too_large', {
        what: 'import the archive',
        reason: 'the names of its entries take too much memory',
        hint: 'Split the archive.',
      })
    if (held + bytes > allMax)
      throw new CairnError('too_many_requests', {
        what: 'import the archive',
        reason: 'other archives are being imported, and memory is short',
      })
    this.#bytes += bytes
    held += bytes
  }

  end(): void {
    held -= this.#bytes
    this.#bytes = 0
  }
}
