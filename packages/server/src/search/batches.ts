import type { Blobs, Extent, Nodes, View } from '@cairn/core'
import { planRead, sendExtents } from '../files/send.ts'
import type { FilePart } from './scan-messages.ts'
import type { FoundPlace } from './scan/events.ts'
import { soon, type TreeFile } from './tree-files.ts'

/** A file with what its events call it. */
export interface PlacedFile extends TreeFile {
  readonly view: View
  readonly places: readonly FoundPlace[]
  readonly isNamed: boolean
  readonly afterLine: number
}

/** Pieces that are sent to a thread together, and the file of each. */
export interface FileBatch {
  readonly pieces: readonly FilePart[]
  readonly files: readonly PlacedFile[]
  readonly bytes: number
}

const batchBytes = 1 << 20
const batchFiles = 256
/** So many small files are read at once: most of it is waiting for threads that decompress and hash. */
const readAhead = 32

/** Reads files and groups them. Large ones are read piece by piece, as far as `isDone` says that they are needed. */
export async function* readBatches(
  { nodes, blobs }: { readonly nodes: Nodes; readonly blobs: Blobs },
  files: AsyncIterable<PlacedFile>,
  isDone: (file: PlacedFile) => boolean,
): AsyncGenerator<FileBatch> {
  const group = new Group()
  let waiting: { file: PlacedFile; bytes: Promise<Uint8Array> }[] = []
  const take = async (): Promise<void> => {
    for (const { file, bytes } of waiting) group.add(file, await bytes, true, true)
    waiting = []
  }
  for await (const file of files) {
    const extents = await planFile(nodes, file)
    const chunks = sendExtents(extents, blobs)
    if (file.inode.size > batchBytes) {
      await take()
      yield* group.rest()
      yield* large(file, chunks, isDone)
      continue
    }
    const bytes = whole(chunks)
    // It may fail while another one is waited for; it is asked later.
    bytes.catch(() => undefined)
    waiting.push({ file, bytes })
    if (waiting.length >= readAhead) await take()
    if (group.isFull) yield group.take()
  }
  await take()
  yield* group.rest()
}

/** Where the bytes of a file are. */
export async function planFile(
  nodes: Nodes,
  { view, ino, inode }: Pick<PlacedFile, 'view' | 'ino' | 'inode'>,
): Promise<readonly Extent[]> {
  return soon(nodes, () => planRead(view, ino, inode, 0, inode.size))
}

async function* large(
  file: PlacedFile,
  chunks: AsyncIterable<Uint8Array>,
  isDone: (file: PlacedFile) => boolean,
): AsyncGenerator<FileBatch> {
  const group = new Group()
  let isFirst = true
  for await (const bytes of chunks) {
    if (!isFirst && isDone(file)) break
    group.add(file, bytes, isFirst, false)
    isFirst = false
    yield group.take()
  }
  group.add(file, new Uint8Array(), false, true)
  yield group.take()
}

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

class Group {
  #pieces: FilePart[] = []
  #files: PlacedFile[] = []
  #bytes = 0

  get isFull(): boolean {
    return this.#bytes >= batchBytes || this.#pieces.length >= batchFiles
  }

  add(file: PlacedFile, bytes: Uint8Array, isFirst: boolean, isLast: boolean): void {
    const { places, isNamed, afterLine } = file
    this.#pieces.push({ places, bytes, isFirst, isLast, isNamed, afterLine })
    this.#files.push(file)
    this.#bytes += bytes.length
  }

  take(): FileBatch {
    const batch = { pieces: this.#pieces, files: this.#files, bytes: this.#bytes }
    this.#pieces = []
    this.#files = []
    this.#bytes = 0
    return batch
  }

  *rest(): Generator<FileBatch> {
    if (this.#pieces.length > 0) yield this.take()
  }
}
