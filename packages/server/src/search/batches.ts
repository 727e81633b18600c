import type { Extent, Nodes, View } from '@cairn/core'
import { planRead, sendExtents } from '../files/send.ts'
import type { FilePart } from './scan-messages.ts'
import type { FoundPlace } from './scan/events.ts'
import type { SearchStores } from './search-target.ts'
import { textKey } from './texts/text-key.ts'
import { textStore } from './texts/text-store.ts'
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
const readAhead = 16

/** Reads files and groups them. Large ones are read piece by piece, as far as `isDone` says that they are needed. */
export async function* readBatches(
  stores: SearchStores,
  files: AsyncIterable<PlacedFile>,
  isDone: (file: PlacedFile) => boolean,
): AsyncGenerator<FileBatch> {
  const group = new Group()
  let waiting: WaitingFile[] = []
  const take = async (): Promise<void> => {
    for (const { file, key, read } of waiting) {
      const bytes = 'then' in read ? await read : read
      group.add(file, key === undefined ? bytes : textStore.add(key, bytes), true, true)
    }
    waiting = []
  }
  for await (const file of files) {
    // Reading small files waits for nothing but this thread.
    if (stores.nodes.pacer.isDue()) await stores.nodes.pacer.rest()
    if (file.inode.size > batchBytes) {
      await take()
      yield* group.rest()
      yield* large(file, sendExtents(await planFile(stores.nodes, file), stores.blobs), isDone)
      continue
    }
    waiting.push(await beginRead(stores, file))
    if (waiting.length >= readAhead) await take()
    if (group.isFull) yield group.take()
  }
  await take()
  yield* group.rest()
}

interface WaitingFile {
  readonly file: PlacedFile
  /** Under which the text is kept. */
  readonly key: string | undefined
  readonly read: Uint8Array | Promise<Uint8Array>
}

async function beginRead(
  { nodes, blobs, workspace }: SearchStores,
  file: PlacedFile,
): Promise<WaitingFile> {
  const { view, ino, inode } = file
  const key = await soon(nodes, () => textKey(workspace, view, ino, inode))
  const kept = key === undefined ? undefined : textStore.find(key)
  if (kept) return { file, key: undefined, read: kept }
  const read = whole(sendExtents(await planFile(nodes, file), blobs))
  // It may fail while another one is waited for; it is asked later.
  read.catch(() => undefined)
  return { file, key, read }
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
