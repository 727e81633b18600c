import type { ChangeReceipt, ImportReceipt } from '@cairn/protocol'
import type { RequestOptions } from '../client/deadline.ts'
import { CairnError } from '../client/error.ts'
import { type FilePath, showPath, spelled } from '../client/path.ts'
import { jsonBody } from '../client/request.ts'
import {
  type FileContent,
  isStream,
  type ReadyContent,
  sizeOfReady,
  StreamCutter,
  toReady,
} from './content.ts'
import { fileCall } from './location.ts'
import { ReadableFiles } from './readable-files.ts'
import { formatMode, uploadBlocks, type UploadOptions, type WriteConditions } from './upload.ts'

export interface WriteOptions extends RequestOptions, WriteConditions {}

export interface ParentsOptions extends RequestOptions {
  /** Makes missing parent directories. */
  readonly parents?: boolean | undefined
}

export interface MkdirOptions extends ParentsOptions {
  readonly mode?: number | string | undefined
}

export interface MoveOptions extends ParentsOptions {
  /** Fails with EEXIST when there is something at the new path. */
  readonly noReplace?: boolean | undefined
}

export interface ImportOptions extends RequestOptions {
  /** `now`: imported files get the time of the import. Otherwise they keep the archive's times. */
  readonly times?: 'archive' | 'now' | undefined
  /** Tell in the receipt which inodes the entries became. */
  readonly inodes?: boolean | undefined
}

/** Larger content goes in blocks, so that a cut costs one block and not everything. */
const singleBytesMax = 8 << 20

/** The files of a workspace, on one branch. */
export class Files extends ReadableFiles {
  /**
   * Creates the file, or replaces its content, in one step: readers never see half of it. Any size;
   * a stream is read only as fast as it can be sent.
   *
   * @example
   * ```ts
   * const { etag } = await workspace.files.stat('/plan.md')
   * await workspace.files.write('/plan.md', 'Ship it.\n', { ifMatch: etag })
   * ```
   */
  async write(
    path: FilePath,
    content: FileContent,
    options: WriteOptions = {},
  ): Promise<ChangeReceipt> {
    if (!isStream(content)) return this.#writeReady(path, toReady(content), options)
    return this.connection.within(`write ${showPath(path)}`, options, async ({ signal }) => {
      const rest = { ...options, signal, timeoutMs: undefined }
      const cutter = new StreamCutter(content, signal)
      const head = await cutter.take(singleBytesMax + 1)
      if (head.length <= singleBytesMax) return this.#put(path, head, rest)
      cutter.giveBack(head)
      return this.#upload(path, cutter, rest)
    })
  }

  /**
   * Writes a file in blocks, several at a time, telling how far it is. After a failure, `resumeId` goes on with what
   * has arrived.
   *
   * @example
   * ```ts
   * let resumeId: string | undefined
   * const onProgress = (progress: UploadProgress) => void (resumeId = progress.uploadId)
   * await workspace.files.upload('/model.bin', blob, { resumeId, onProgress })
   * ```
   */
  async upload(
    path: FilePath,
    source: FileContent,
    options: UploadOptions = {},
  ): Promise<ChangeReceipt> {
    return this.connection.within(`upload ${showPath(path)}`, options, ({ signal }) => {
      const blocks = isStream(source) ? new StreamCutter(source, signal) : toReady(source)
      return this.#upload(path, blocks, { ...options, signal, timeoutMs: undefined })
    })
  }

  /**
   * Adds to the end of a file, which is made if it is not there. Appends of several writers do not mix.
   *
   * @example
   * ```ts
   * await workspace.files.append('/run.log', 'step 3 passed\n')
   * ```
   */
  async append(
    path: FilePath,
    content: string | Uint8Array | Blob,
    { parents, ...options }: ParentsOptions = {},
  ): Promise<ChangeReceipt> {
    const what = `append to ${showPath(path)}`
    const call = fileCall(this.location, 'POST', path, what, { append: true, parents })
    return this.connection.json<ChangeReceipt>({ ...call, body: toReady(content) }, options)
  }

  /**
   * Writes bytes at an offset. The file grows where needed; a gap reads as zeros.
   *
   * @example
   * ```ts
   * await workspace.files.patch('/disk.img', 4096, block)
   * ```
   */
  async patch(
    path: FilePath,
    offset: number,
    bytes: Uint8Array,
    { ifMatch, ...options }: RequestOptions & Pick<WriteConditions, 'ifMatch'> = {},
  ): Promise<ChangeReceipt> {
    const what = `patch ${showPath(path)}`
    if (bytes.length === 0)
      throw new CairnError('invalid_argument', {
        what,
        reason: 'there are no bytes',
        hint: 'Give one or more.',
      })
    const call = fileCall(this.location, 'PATCH', path, what)
    const contentRange = `bytes ${offset}-${offset + bytes.length - 1}/*`
    const headers = { 'content-range': contentRange, 'if-match': ifMatch }
    return this.connection.json<ChangeReceipt>({ ...call, headers, body: bytes }, options)
  }

  /**
   * Puts a tar archive, plain or gzip, below the directory at `path`: all of it or nothing. `open` gives the archive;
   * it is called again when a request is repeated.
   *
   * @example
   * ```ts
   * const { files } = await workspace.files.importTar('/repo', () => createReadStream('repo.tar'))
   * ```
   */
  async importTar(
    path: FilePath,
    open: () => AsyncIterable<Uint8Array>,
    { times, inodes, ...options }: ImportOptions = {},
  ): Promise<ImportReceipt> {
    const what = `import into ${showPath(path)}`
    const call = fileCall(this.location, 'POST', path, what, { import: true, times, inodes })
    const headers = { 'content-type': 'application/x-tar' }
    return this.connection.json<ImportReceipt>({ ...call, headers, stream: open }, options)
  }

  /**
   * Makes a directory. With `parents`, one that is there already is fine.
   *
   * @example
   * ```ts
   * await workspace.files.mkdir('/reports/2031/05', { parents: true })
   * ```
   */
  async mkdir(
    path: FilePath,
    { mode, parents, ...options }: MkdirOptions = {},
  ): Promise<ChangeReceipt> {
    const octal = mode === undefined ? undefined : formatMode(mode)
    const what = `make the directory ${showPath(path)}`
    return this.#post(path, what, 'mkdir', { mode: octal, parents }, options)
  }

  /**
   * Removes a file or an empty directory; with `recursive`, a directory and all that is in it.
   *
   * @example
   * ```ts
   * await workspace.files.remove('/build', { recursive: true })
   * ```
   */
  async remove(
    path: FilePath,
    { recursive, ...options }: RequestOptions & { readonly recursive?: boolean | undefined } = {},
  ): Promise<ChangeReceipt> {
    const call = fileCall(this.location, 'DELETE', path, `remove ${showPath(path)}`, { recursive })
    return this.connection.json<ChangeReceipt>(call, options)
  }

  /**
   * Renames a file or directory. A file at the new path is replaced, unless `noReplace`.
   *
   * @example
   * ```ts
   * await workspace.files.move('/draft.md', '/final.md')
   * ```
   */
  async move(
    from: FilePath,
    to: FilePath,
    { noReplace, parents, ...options }: MoveOptions = {},
  ): Promise<ChangeReceipt> {
    const what = `move ${showPath(from)} to ${showPath(to)}`
    return this.#post(from, what, 'move', { ...spelled('to', to), noReplace, parents }, options)
  }

  /**
   * Copies a file or a whole directory at the server, which reads no bytes for it.
   *
   * @example
   * ```ts
   * await workspace.files.copy('/template', '/runs/17')
   * ```
   */
  async copy(
    from: FilePath,
    to: FilePath,
    { parents, ...options }: ParentsOptions = {},
  ): Promise<ChangeReceipt> {
    const what = `copy ${showPath(from)} to ${showPath(to)}`
    return this.#post(from, what, 'copy', { ...spelled('to', to), parents }, options)
  }

  /**
   * Sets the permission bits.
   *
   * @example
   * ```ts
   * await workspace.files.chmod('/run.sh', 0o755)
   * ```
   */
  async chmod(
    path: FilePath,
    mode: number | string,
    options: RequestOptions = {},
  ): Promise<ChangeReceipt> {
    const what = `chmod ${showPath(path)}`
    return this.#post(path, what, 'chmod', { mode: formatMode(mode) }, options)
  }

  /**
   * Sets tags, and takes away those that are null; others stay. Tags are part of the tree: layers, checkpoints and commits
   * have them, and mounts show them as extended attributes `user.cairn.tag.NAME`. `stat` gives them.
   *
   * @example
   * ```ts
   * await workspace.files.tag('/repo/a.txt', { reviewed: 'yes', draft: null })
   * ```
   */
  async tag(
    path: FilePath,
    tags: Readonly<Record<string, string | null>>,
    options: RequestOptions = {},
  ): Promise<ChangeReceipt> {
    return this.#post(path, `tag ${showPath(path)}`, 'tag', { tags }, options)
  }

  /**
   * Makes a symlink at `path` that leads to `target`: the order of `ln -s`.
   *
   * @example
   * ```ts
   * await workspace.files.symlink('releases/17', '/current')
   * ```
   */
  async symlink(
    target: FilePath,
    path: FilePath,
    { parents, ...options }: ParentsOptions = {},
  ): Promise<ChangeReceipt> {
    const what = `make the symlink ${showPath(path)}`
    return this.#post(path, what, 'symlink', { ...spelled('target', target), parents }, options)
  }

  /**
   * Gives a file another name: the order of `ln`.
   *
   * @example
   * ```ts
   * await workspace.files.link('/data/base.bin', '/data/copy.bin')
   * ```
   */
  async link(
    existing: FilePath,
    path: FilePath,
    { parents, ...options }: ParentsOptions = {},
  ): Promise<ChangeReceipt> {
    const what = `link ${showPath(existing)} to ${showPath(path)}`
    return this.#post(existing, what, 'link', { ...spelled('to', path), parents }, options)
  }

  /**
   * Sets the time of the last change, to now unless given.
   *
   * @example
   * ```ts
   * await workspace.files.touch('/stamp', { mtime: new Date('2031-05-01') })
   * ```
   */
  async touch(
    path: FilePath,
    { mtime, ...options }: RequestOptions & { readonly mtime?: Date | undefined } = {},
  ): Promise<ChangeReceipt> {
    const mtimeNs = mtime === undefined ? undefined : `${BigInt(mtime.getTime()) * 1_000_000n}`
    return this.#post(path, `touch ${showPath(path)}`, 'touch', { mtimeNs }, options)
  }

  #writeReady(
    path: FilePath,
    content: ReadyContent,
    options: WriteOptions,
  ): Promise<ChangeReceipt> {
    const isSingle = sizeOfReady(content) <= singleBytesMax
    return isSingle ? this.#put(path, content, options) : this.upload(path, content, options)
  }

  #put(path: FilePath, body: ReadyContent, options: WriteOptions): Promise<ChangeReceipt> {
    const { mode, tags = {}, ifMatch, ifAbsent, parents, ...request } = options
    const tag = Object.entries(tags).map(([name, value]) => `${name}=${value}`)
    const query = { mode: mode === undefined ? undefined : formatMode(mode), parents, tag }
    const call = fileCall(this.location, 'PUT', path, `write ${showPath(path)}`, query)
    const headers = { 'if-match': ifMatch, 'if-none-match': ifAbsent === true ? '*' : undefined }
    return this.connection.json<ChangeReceipt>({ ...call, headers, body }, request)
  }

  #upload(
    path: FilePath,
    source: ReadyContent | StreamCutter,
    options: UploadOptions,
  ): Promise<ChangeReceipt> {
    return uploadBlocks(this.connection, this.location, path, source, options)
  }

  #post(
    path: FilePath,
    what: string,
    verb: string,
    body: object,
    options: RequestOptions,
  ): Promise<ChangeReceipt> {
    const call = fileCall(this.location, 'POST', path, what, { [verb]: true })
    return this.connection.json<ChangeReceipt>({ ...call, ...jsonBody(body) }, options)
  }
}
