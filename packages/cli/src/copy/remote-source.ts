import { type ByteString, isName, toByteString } from '@cairn/protocol'
import { type FileContent, type Files, type FileStat, exactPathOf } from '@cairn/sdk'
import { usageError } from '../errors.ts'
import { notCopyable } from './failures.ts'
import { remotePath } from './remote-path.ts'
import type { TreeEntry, TreeSource } from './tree.ts'

/** Files of a workspace. `root` is the real path of what is copied, as a stat that follows symlinks tells it. */
export class RemoteSource implements TreeSource {
  readonly #files: Files
  readonly #root: FileStat

  constructor(files: Files, root: FileStat) {
    this.#files = files
    this.#root = root
  }

  async *entries(signal: AbortSignal): AsyncGenerator<TreeEntry> {
    yield entryOf('', this.#root)
    if (this.#root.kind !== 'directory') return
    for await (const entry of this.#files.walk(this.#root.path, { signal }))
      yield entryOf(below(this.#root.path, entry), entry)
  }

  async open(entry: TreeEntry, signal: AbortSignal, offset: number): Promise<FileContent> {
    if (entry.kind !== 'file') throw notCopyable(entry.path, entry.kind)
    const path = remotePath(this.#root.path, entry.path)
    // Without an offset the newest bytes are as good as any; with one they must be those that were begun.
    const ifMatch = offset > 0 ? entry.version : undefined
    return this.#files.readStream(path, { offset, ifMatch, signal })
  }
}

function entryOf(
  path: ByteString,
  { kind, size, mode, target, targetBytes, etag }: FileStat,
): TreeEntry {
  const entry = { path, kind, size, mode: parseInt(mode, 8), version: etag }
  if (targetBytes !== undefined) return { ...entry, target: atob(targetBytes) }
  return target === undefined ? entry : { ...entry, target: bytesOf(target) }
}

/** A server must not be able to name a place outside of the copy. */
function below(root: string, entry: FileStat): ByteString {
  const path = exactPathOf(entry)
  const whole = typeof path === 'string' ? bytesOf(path) : toByteString(path)
  const names = whole
    .slice(bytesOf(root).length)
    .split('/')
    .filter((name) => name !== '')
  if (whole.startsWith(bytesOf(root)) && names.length > 0 && names.every(isName))
    return names.join('/')
  throw usageError(`copy ${entry.path}`, `it is not below ${root}`, 'Do not trust this server.')
}

function bytesOf(text: string): ByteString {
  return toByteString(new TextEncoder().encode(text))
}
