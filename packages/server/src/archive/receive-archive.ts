import { createGunzip } from 'node:zlib'
import { Readable } from 'node:stream'
import {
  blockBytes,
  type Blobs,
  InFlight,
  type SealedBlob,
  withoutTrailingZeros,
} from '@cairn/core'
import {
  type ByteString,
  CairnError,
  isName,
  type Name,
  type TarEntry,
  TarReader,
} from '@cairn/protocol'
import { bodyBytesMax, type Piece } from '../files/receive.ts'
import type { ArchiveRoom } from './archive-room.ts'

/** An entry whose content is stored. */
export interface ArchiveEntry extends Omit<TarEntry, 'path' | 'target'> {
  /** Below the directory that the archive goes to; empty for that directory itself. */
  readonly names: readonly Name[]
  readonly pieces: readonly Piece[]
  readonly target?: ByteString
}

/** What is remembered of an entry until all have come: some hundred bytes each. */
const entriesMax = 1_000_000
/** Small contents go to the store together: many of them cost one transaction. */
const groupBytesMax = 1 << 20
const groupCountMax = 512
const groupsAtOnce = 4

export interface ReceiveArchiveOptions {
  /** Hears of each piece of content before it is stored; refuses by rejecting. */
  readonly onContent: (bytes: number) => Promise<void>
  /** Refuses what takes too much memory. */
  readonly room: Pick<ArchiveRoom, 'take'>
}

/** Takes a tar archive in, plain or compressed by gzip. When it resolves, all content is stored; nothing points at it yet. */
export async function receiveArchive(
  body: AsyncIterable<Uint8Array>,
  blobs: Blobs,
  { onContent, room }: ReceiveArchiveOptions,
): Promise<readonly ArchiveEntry[]> {
  const reader = new TarReader(unzipped(body))
  const store = new GroupedStore(blobs)
  const entries: ArchiveEntry[] = []
  try {
    for (let entry = await reader.next(); entry; entry = await reader.next()) {
      if (entries.length === entriesMax) throw tooMany()
      const names = namesOf(entry.path)
      if (entry.size > bodyBytesMax) throw malformed(`'${entry.path}' is too large`)
      const pieces = await receiveContent(reader, entry.size, store, onContent)
      const received = { ...entry, names, pieces }
      room.take(received)
      entries.push(received)
    }
    await store.end()
    return entries
  } catch (error) {
    await store.end().catch(() => {})
    throw error
  }
}

async function receiveContent(
  reader: TarReader,
  size: number,
  store: GroupedStore,
  onContent: ReceiveArchiveOptions['onContent'],
): Promise<readonly Piece[]> {
  const pieces: Piece[] = []
  for (let offset = 0; offset < size;) {
    const block = await reader.content(blockBytes)
    await onContent(block.length)
    const bytes = withoutTrailingZeros(block)
    const { length } = bytes
    if (length > 0) {
      const { id } = await store.add(bytes)
      const data = { type: 'blob', id, blobLength: length, start: 0, length } as const
      pieces.push({ offset, data })
    }
    offset += block.length
  }
  return pieces
}

/** Seals content at once and stores it in groups. */
class GroupedStore {
  readonly #blobs: Blobs
  readonly #storing = new InFlight(groupsAtOnce)
  #group: SealedBlob[] = []
  #bytes = 0

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  async add(bytes: Uint8Array): Promise<SealedBlob> {
    const blob = await this.#blobs.seal(bytes)
    this.#group.push(blob)
    this.#bytes += blob.stored.length
    if (this.#bytes >= groupBytesMax || this.#group.length >= groupCountMax) await this.#flush()
    return blob
  }

  async end(): Promise<void> {
    await this.#flush()
    await this.#storing.drain()
  }

  async #flush(): Promise<void> {
    const group = this.#group
    this.#group = []
    this.#bytes = 0
    if (group.length > 0) await this.#storing.add(this.#blobs.store(group))
  }
}

/** The first bytes tell whether it is compressed, so that no header has to. */
async function* unzipped(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done === true) return
  const all = (async function* () {
    yield first.value
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
      yield next.value
  })()
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* all
  const source = Readable.from(all)
  const plain = createGunzip()
  source.on('error', (error) => plain.destroy(error))
  try {
    yield* source.pipe(plain) as AsyncIterable<Uint8Array>
  } catch (error) {
    const isDamaged = (error as NodeJS.ErrnoException).code?.startsWith('Z_') === true
    throw isDamaged ? malformed('its compression is damaged') : error
  } finally {
    source.destroy()
  }
}

/** A path that leads out of its directory is refused: it could name any file. */
export function namesOf(path: ByteString): readonly Name[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  const wrong = parts.find((part) => !isName(part))
  if (wrong === undefined) return parts as Name[]
  throw malformed(`the path '${path}' has the part '${wrong}', which is no name of a file`)
}

function tooMany(): CairnError {
  return new CairnError('too_large', {
    what: 'import the archive',
    reason: `it has more than ${entriesMax} entries`,
    hint: 'Split the archive.',
  })
}

function malformed(why: string): CairnError {
  return new CairnError('malformed', { what: 'import the archive', reason: why })
}
