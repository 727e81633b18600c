import { gatherChunks, tarEnd, type TarEntry, tarHeader, tarPaddingBytes } from '@cairn/protocol'
import type { FileContent } from '@cairn/sdk'
import { cliError } from '../errors.ts'
import type { Remote } from '../remote/open.ts'
import { isEntryFailure, notCopyable } from './failures.ts'
import type { CopyProgress } from './observer.ts'
import type { TreeEntry, TreeSource } from './tree.ts'

/**
 * Sends a tree as one tar stream, which the server takes as a whole. False, and nothing changed, where something at
 * the target is in the way of an entry.
 */
export async function streamTree(
  source: TreeSource,
  { files, path }: Remote,
  progress: CopyProgress,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const archive = (): AsyncIterable<Uint8Array> => gatherChunks(tarOf(source, progress, signal))
    progress.imported(await files.importTar(path, archive, { times: 'now', signal }))
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (!isEntryFailure(error)) throw error
    return false
  }
}

async function* tarOf(
  source: TreeSource,
  progress: CopyProgress,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const entry of source.entries(signal)) {
    try {
      yield* tarEntry(source, entry, { progress, signal })
    } catch (error) {
      if (signal.aborted || entry.path === '' || !isEntryFailure(error)) throw error
      await progress.failed({ path: entry.path, error })
    }
  }
  progress.foundAll()
  yield tarEnd
}

export interface TarOptions {
  readonly progress: Pick<CopyProgress, 'found' | 'bar'>
  readonly signal: AbortSignal
  /** Stands before the paths. */
  readonly prefix?: string
  readonly mtimeNs?: bigint
}

/** A file of this machine as an entry of an archive. */
export async function* tarEntry(
  source: TreeSource,
  entry: TreeEntry,
  { progress, signal, prefix = '', mtimeNs = 0n }: TarOptions,
): AsyncGenerator<Uint8Array> {
  const { path, kind, mode, target } = entry
  if (kind !== 'file' && kind !== 'directory' && kind !== 'symlink') throw notCopyable(path, kind)
  const base = { path: `${prefix}${path}` || '.', mode, size: 0, mtimeNs }
  if (kind === 'symlink') return yield tarHeader({ ...base, kind, target: target ?? '' })
  if (kind === 'directory') return yield tarHeader({ ...base, kind })
  const content = await source.open(entry, signal, 0)
  const size = content instanceof Uint8Array ? content.length : entry.size
  progress.found({ ...entry, size })
  yield tarHeader({ ...base, kind, size } satisfies TarEntry)
  yield* exactly(content, size, entry, progress)
  const padding = tarPaddingBytes(size)
  if (padding > 0) yield new Uint8Array(padding)
}

/** The header has promised a size. A file that is shorter by now would shift all that follows. */
async function* exactly(
  content: FileContent,
  size: number,
  { path }: TreeEntry,
  progress: TarOptions['progress'],
): AsyncGenerator<Uint8Array> {
  let left = size
  for await (const chunk of chunksOf(content)) {
    const part = chunk.length > left ? chunk.subarray(0, left) : chunk
    left -= part.length
    progress.bar.add(part.length)
    if (part.length > 0) yield part
  }
  if (left > 0)
    throw cliError(
      'local_file',
      `copy ${Buffer.from(path, 'latin1').toString()}`,
      'it became shorter while it was read',
      'Copy again.',
    )
}

function chunksOf(content: FileContent): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  if (content instanceof Uint8Array) return [content]
  if (content instanceof Blob) return content.stream()
  if (typeof content === 'string') return [Buffer.from(content)]
  return content as AsyncIterable<Uint8Array>
}
