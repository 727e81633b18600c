import { createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'
import { parseTags } from '../layers/format.ts'
import { findStat, isSameWorkspace, type Remote, type WorkspaceValues } from '../remote/open.ts'
import { appendAll } from './append.ts'
import * as endpoint from './endpoint.ts'
import { LocalSink } from './local-sink.ts'
import { LocalSource } from './local-source.ts'
import { CopyProgress, type CopySummary } from './observer.ts'
import { RemoteSink } from './remote-sink.ts'
import { RemoteSource } from './remote-source.ts'
import { pourInto } from './save-file.ts'
import { ServerCopySink } from './server-copy-sink.ts'
import { streamTree } from './stream-tree.ts'
import { copyTree, type TreeSink, type TreeSource } from './tree.ts'
import { unpackTree } from './unpack-tree.ts'
import type { UploadPlan } from './upload-file.ts'
import { UploadRecords } from './upload-records.ts'

export interface CopyOptions extends WorkspaceValues {
  readonly recursive: boolean
  readonly resume: boolean
  readonly append: boolean
  /** KEY=VALUE, for each file that is copied. */
  readonly tag: readonly string[]
}

/** Copies between this machine, workspaces and pipes, in every direction that has a remote end. */
export async function copy(
  cli: Cli,
  options: CopyOptions,
  sourceText: string,
  targetText: string,
): Promise<CopySummary> {
  const source = await endpoint.openEndpoint(cli, options, sourceText)
  const target = await endpoint.openEndpoint(cli, options, targetText)
  checkOptions(options, source, target)
  const tags = options.tag.length > 0 ? parseTags(options.tag) : undefined
  const progress = new CopyProgress(cli)
  const job = new CopyJob(cli, options, tags, progress)
  try {
    if (target.kind === 'remote') {
      if (source.kind === 'stdio') await job.fromPipe(target.remote)
      else if (source.kind === 'local') await job.upload(source.path, target.remote)
      else await job.between(source.remote, target.remote)
    } else if (source.kind === 'remote') {
      if (target.kind === 'stdio') await job.toPipe(source.remote)
      else await job.download(source.remote, target.path)
    } else throw nothingRemote(sourceText, targetText)
  } catch (error) {
    await progress.bar.clear()
    throw error
  }
  await progress.end()
  return progress.summary
}

class CopyJob {
  readonly #cli: Cli
  readonly #options: CopyOptions
  readonly #tags: Readonly<Record<string, string>> | undefined
  readonly #progress: CopyProgress

  constructor(
    cli: Cli,
    options: CopyOptions,
    tags: Readonly<Record<string, string>> | undefined,
    progress: CopyProgress,
  ) {
    this.#cli = cli
    this.#options = options
    this.#tags = tags
    this.#progress = progress
  }

  async fromPipe({ files, path }: Remote): Promise<void> {
    const { signal } = this.#cli
    const chunks = this.#counted(this.#cli.stdin as AsyncIterable<Uint8Array>)
    if (this.#options.append) await appendAll(files, path, chunks, { signal, onBytes: () => {} })
    else await files.write(path, ReadableStream.from(chunks), { tags: this.#tags, signal })
    this.#finishFile()
  }

  async toPipe({ files, path }: Remote): Promise<void> {
    const stream = await files.readStream(path, { signal: this.#cli.signal })
    for await (const bytes of stream) {
      await this.#cli.out.bytes(bytes)
      this.#progress.moved(bytes.length)
    }
    this.#finishFile()
  }

  async upload(path: string, target: Remote): Promise<void> {
    const { signal } = this.#cli
    const stats = await stat(path)
    if (stats.isDirectory() && !this.#options.recursive) throw endpoint.needsRecursive(path)
    const name = endpoint.localName(path)
    const place = stats.isDirectory() ? target : await endpoint.placeRemote(target, name, signal)
    if (this.#options.append) {
      const onBytes = (count: number): void => this.#progress.moved(count)
      await appendAll(place.files, place.path, createReadStream(path), { signal, onBytes })
      return this.#finishFile()
    }
    const source = new LocalSource(path)
    // One by one where it can be interrupted, where something in the way is to be named, and with tags: archives have none.
    const isStream = stats.isDirectory() && !this.#options.resume && !this.#tags
    if (isStream && (await streamTree(source, place, this.#progress, signal))) return
    await this.#run(source, this.#remoteSink(place))
  }

  async download(source: Remote, path: string): Promise<void> {
    const { signal } = this.#cli
    const stat = await source.files.stat(source.path, { signal })
    if (stat.kind === 'directory' && !this.#options.recursive)
      throw endpoint.needsRecursive(source.path)
    const tree = new RemoteSource(source.files, stat)
    const { resume } = this.#options
    if (stat.kind === 'directory') {
      const sink = new LocalSink(path, { resume })
      if (resume) return this.#run(tree, sink)
      const archive = await source.files.archive(stat.path, { signal })
      const root = { path: '', kind: stat.kind, size: 0, version: stat.etag } as const
      return unpackTree(
        archive,
        sink,
        { ...root, mode: parseInt(stat.mode, 8) },
        this.#progress,
        signal,
      )
    }
    const place = await endpoint.placeLocal(path, endpoint.remoteName(source))
    const there = await endpoint.findLocal(place)
    if (there === undefined || there.isFile()) {
      // A symlink stays one: what it leads to is replaced.
      const real = there === undefined ? place : await realpath(place)
      return this.#run(tree, new LocalSink(real, { resume }))
    }
    const content = await source.files.readStream(source.path, { signal })
    const onBytes = (count: number): void => this.#progress.moved(count)
    await pourInto(Buffer.from(place), content, { signal, onBytes })
    this.#finishFile()
  }

  async between(source: Remote, target: Remote): Promise<void> {
    const { signal } = this.#cli
    const stat = await source.files.stat(source.path, { signal })
    const isTree = stat.kind === 'directory'
    if (isTree && !this.#options.recursive) throw endpoint.needsRecursive(source.path)
    const name = endpoint.remoteName(source)
    const place = isTree ? target : await endpoint.placeRemote(target, name, signal)
    const tree = new RemoteSource(source.files, stat)
    if (!isSameWorkspace(source, place)) return this.#run(tree, this.#remoteSink(place))
    const there = await findStat(place, signal)
    if (there?.ino === stat.ino || (isTree && isBelow(place.path, stat.path)))
      throw usageError(
        `copy ${source.path} to ${place.path}`,
        'that is the same place, or inside it',
        'Name another.',
      )
    if (there !== undefined || this.#tags)
      return this.#run(tree, new ServerCopySink(place, stat.path, this.#uploadPlan()))
    await source.files.copy(stat.path, place.path, { parents: true, signal })
    this.#finishFile()
  }

  #run(source: TreeSource, sink: TreeSink): Promise<void> {
    return copyTree(source, sink, this.#progress, this.#cli.signal)
  }

  #remoteSink(remote: Remote): RemoteSink {
    return new RemoteSink(remote, this.#uploadPlan())
  }

  #uploadPlan(): UploadPlan {
    const { resume } = this.#options
    return { records: new UploadRecords(this.#cli), resume, tags: this.#tags }
  }

  async *#counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#progress.moved(chunk.length)
      yield chunk
    }
  }

  #finishFile(): void {
    this.#progress.finished({ path: '', kind: 'file', size: 0, mode: 0, version: '' })
  }
}

function isBelow(path: string, directory: string): boolean {
  return `${path}/`.startsWith(`${directory.replace(/\/+$/, '')}/`)
}

function checkOptions(
  { append, resume, recursive, tag }: CopyOptions,
  source: endpoint.Endpoint,
  target: endpoint.Endpoint,
): void {
  const isUpload = source.kind !== 'remote' && target.kind === 'remote'
  if (append && (!isUpload || recursive || resume))
    throw usageError(
      'append',
      'that is for one local file or -',
      'Give a local file and a remote path, without -r and --resume.',
    )
  if (tag.length > 0 && (append || target.kind !== 'remote'))
    throw usageError(
      'tag what is copied',
      append ? 'the file may be there already' : 'tags are kept in workspaces',
      'Use cairn fs tag.',
    )
  const isResumable = source.kind !== 'stdio' && target.kind !== 'stdio'
  if (resume && !isResumable)
    throw usageError('resume', 'a pipe cannot be read again', 'Copy from or to a file.')
}

function nothingRemote(source: string, target: string): Error {
  const hint = 'A remote path begins with a colon, as :/path. For local copies there is cp.'
  return usageError(`copy ${source} to ${target}`, 'neither is remote', hint)
}
