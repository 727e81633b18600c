import type { ByteString } from '@cairn/protocol'
import { type FileContent, type FileKind, forEachParallel } from '@cairn/sdk'
import { isEntryFailure } from './failures.ts'

/** One thing to copy. */
export interface TreeEntry {
  /** Below what is copied, as bytes; empty for that itself. */
  readonly path: ByteString
  readonly kind: FileKind
  readonly size: number
  readonly mode: number
  /** The target of a symlink, as bytes. */
  readonly target?: ByteString
  /** Another whenever the bytes may have changed. */
  readonly version: string
}

/** Where copies come from. */
export interface TreeSource {
  /** The thing itself first, then what is below it, parents before children. */
  entries(signal: AbortSignal): AsyncIterable<TreeEntry>
  /** The bytes of a file, those before `offset` left out. */
  open(entry: TreeEntry, signal: AbortSignal, offset: number): Promise<FileContent>
}

export interface Moving {
  readonly signal: AbortSignal
  /** Called as bytes get there. */
  readonly onBytes: (count: number) => void
}

export type Opener = (offset?: number) => Promise<FileContent>

/** Where copies go. What is there already is replaced, except a directory by something else or the reverse. */
export interface TreeSink {
  /** Parents before children. Gives those that could not be made; what is below one of them is not tried. */
  makeDirectories(entries: readonly TreeEntry[], signal: AbortSignal): Promise<FailedEntry[]>
  writeFile(entry: TreeEntry, open: Opener, moving: Moving): Promise<void>
  makeSymlink(entry: TreeEntry, signal: AbortSignal): Promise<void>
  /** When all is there. */
  finish(): Promise<void>
}

export interface FailedEntry {
  readonly path: ByteString
  readonly error: unknown
}

/** Hears how a copy goes. */
export interface CopyObserver {
  found(entry: TreeEntry): void
  /** No more will be found. */
  foundAll(): void
  moved(bytes: number): void
  finished(entry: TreeEntry): void
  failed(failure: FailedEntry): Promise<void>
}

const copiesInFlight = 16
/** Directories are made so many at a time, in one request, before what is in them. */
const lookAhead = 500

/**
 * Copies everything. What one thing refuses is told and the rest goes on; what concerns all of them, such as a server
 * that is gone, ends it.
 */
export async function copyTree(
  source: TreeSource,
  sink: TreeSink,
  observer: CopyObserver,
  signal: AbortSignal,
): Promise<void> {
  const copyOne = async (entry: TreeEntry, failing: AbortSignal): Promise<void> => {
    const either = AbortSignal.any([signal, failing])
    try {
      await copyEntry(source, sink, entry, { signal: either, onBytes: (n) => observer.moved(n) })
      observer.finished(entry)
    } catch (error) {
      // What was named is all there is to copy: its failure is the command's.
      const isAll = entry.path === ''
      if (either.aborted || isAll || !isEntryFailure(error)) throw error
      await observer.failed({ path: entry.path, error })
    }
  }
  await forEachParallel(prepare(source, sink, observer, signal), copiesInFlight, copyOne)
  signal.throwIfAborted()
  await sink.finish()
}

/** Gives everything but the directories, each after the directory it is in has been made. */
async function* prepare(
  source: TreeSource,
  sink: TreeSink,
  observer: CopyObserver,
  signal: AbortSignal,
): AsyncGenerator<TreeEntry> {
  const unmade = new UnmadeDirectories()
  for await (const group of groups(source.entries(signal), lookAhead)) {
    for (const entry of group) observer.found(entry)
    const directories = group.filter(({ path, kind }) => kind === 'directory' && !unmade.hold(path))
    const failed = directories.length > 0 ? await sink.makeDirectories(directories, signal) : []
    for (const failure of failed) {
      if (failure.path === '') throw failure.error
      unmade.add(failure.path)
      await observer.failed(failure)
    }
    for (const entry of directories) if (!unmade.hold(entry.path)) observer.finished(entry)
    yield* group.filter(({ path, kind }) => kind !== 'directory' && !unmade.hold(path))
  }
  observer.foundAll()
}

/** What was to go into them is left out: something else is in their place, perhaps a symlink to somewhere else. */
export class UnmadeDirectories {
  readonly #paths = new Set<ByteString>()

  add(path: ByteString): void {
    this.#paths.add(path)
  }

  /** Whether it is one of them, or below one. */
  hold(path: ByteString): boolean {
    if (this.#paths.size === 0) return false
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
      if (this.#paths.has(path.slice(0, end))) return true
    return false
  }
}

async function copyEntry(
  source: TreeSource,
  sink: TreeSink,
  entry: TreeEntry,
  moving: Moving,
): Promise<void> {
  if (entry.kind === 'symlink') return sink.makeSymlink(entry, moving.signal)
  const open: Opener = (offset = 0) => source.open(entry, moving.signal, offset)
  await sink.writeFile(entry, open, moving)
}

async function* groups<Item>(items: AsyncIterable<Item>, size: number): AsyncGenerator<Item[]> {
  let group: Item[] = []
  for await (const item of items) {
    group.push(item)
    if (group.length < size) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}
