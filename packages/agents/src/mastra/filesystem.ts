import { posix } from 'node:path'
import {
  DirectoryNotEmptyError,
  DirectoryNotFoundError,
  FileExistsError,
  FileNotFoundError,
  IsDirectoryError,
  NotDirectoryError,
  PermissionError,
  StaleFileError,
  type CopyOptions,
  type FileContent,
  type FileEntry,
  type FileStat,
  type ListOptions,
  type ProviderStatus,
  type ReadOptions,
  type RemoveOptions,
  type WorkspaceFilesystem,
  type WriteOptions,
} from '@mastra/core/workspace'
import { type Files, type FileStat as CairnStat, isCairnError } from '@cairn/sdk'
import { dateOf } from '../file-time.ts'
import { absolute } from '../open-place.ts'
import { openAccess, type WorkspaceAccess } from '../workspace-access.ts'

/**
 * The files of a workspace for agents of Mastra. No machine is needed for them.
 *
 * @example
 * ```ts
 * const filesystem = new CairnFilesystem({ server: 'http://127.0.0.1:7070', apiKey, workspace: 'default' })
 * const agent = new Agent({ id: 'fixer', name: 'Fixer', instructions, model, workspace: new Workspace({ filesystem }) })
 * ```
 */
export class CairnFilesystem implements WorkspaceFilesystem {
  readonly id: string
  readonly name = 'CairnFilesystem'
  readonly provider = 'cairn'
  readonly description = 'A durable workspace with history'
  status: ProviderStatus = 'ready'
  readonly #access: WorkspaceAccess

  constructor(access: WorkspaceAccess) {
    const { workspace, layer = 'main' } = access
    this.id = `cairn-${workspace}-${layer}`
    this.#access = access
  }

  getInstructions(): string {
    return 'Paths begin at the root of the workspace. Every change is in its history at once.'
  }

  async readFile(path: string, { encoding }: ReadOptions = {}): Promise<string | Buffer> {
    const bytes = Buffer.from(await this.#call('read', path, (whole) => this.#files.read(whole)))
    return encoding === undefined ? bytes : bytes.toString(encoding)
  }

  async writeFile(path: string, content: FileContent, options: WriteOptions = {}): Promise<void> {
    const { recursive = true, overwrite = true, expectedMtime } = options
    const ifMatch = expectedMtime && (await this.#versionAt(path, expectedMtime))
    const write = { parents: recursive, ifAbsent: !overwrite, ifMatch }
    await this.#call('write', path, async (whole) => {
      try {
        await this.#files.write(whole, content, write)
      } catch (error) {
        if (!isCairnError(error) || error.code !== 'precondition_failed') throw error
        if (expectedMtime === undefined) throw new FileExistsError(path)
        throw new StaleFileError(path, expectedMtime, dateOf((await this.#look(path)).mtimeNs))
      }
    })
  }

  async appendFile(path: string, content: FileContent): Promise<void> {
    await this.#call('append', path, (whole) => this.#files.append(whole, content))
  }

  async deleteFile(path: string, options: RemoveOptions = {}): Promise<void> {
    const { force = false } = options
    await this.#unlessGone(force, async () => {
      await this.#refuse(path, 'directory', IsDirectoryError)
      await this.#call('delete', path, (whole) => this.#files.remove(whole))
    })
  }

  async copyFile(from: string, to: string, { overwrite = true }: CopyOptions = {}): Promise<void> {
    if (!overwrite && (await this.exists(to))) throw new FileExistsError(to)
    const bytes = await this.#call('read', from, (whole) => this.#files.read(whole))
    await this.#call('copy', to, (whole) => this.#files.write(whole, bytes))
  }

  async moveFile(from: string, to: string, { overwrite = true }: CopyOptions = {}): Promise<void> {
    await this.#call('move', from, (whole) =>
      this.#files.move(whole, absolute(to), { noReplace: !overwrite, parents: true }),
    )
  }

  async mkdir(
    path: string,
    { recursive = false }: { readonly recursive?: boolean } = {},
  ): Promise<void> {
    await this.#call('mkdir', path, (whole) => this.#files.mkdir(whole, { parents: recursive }))
  }

  async rmdir(
    path: string,
    { recursive = false, force = false }: RemoveOptions = {},
  ): Promise<void> {
    await this.#unlessGone(force, async () => {
      await this.#refuse(path, 'file', NotDirectoryError)
      await this.#call('rmdir', path, (whole) => this.#files.remove(whole, { recursive }), {
        missing: DirectoryNotFoundError,
      })
    })
  }

  async readdir(path: string, options: ListOptions = {}): Promise<FileEntry[]> {
    const { recursive = false, extension, maxDepth = Infinity } = options
    const endings = extension === undefined ? undefined : [extension].flat()
    const root = absolute(path).replace(/\/$/, '')
    return this.#call(
      'readdir',
      path,
      async (whole) => {
        const found: FileEntry[] = []
        const entries = recursive ? this.#files.walk(whole) : this.#files.list(whole)
        for await (const { path: at, kind, size, target } of entries) {
          const name = at.slice(root.length + 1)
          if (name.split('/').length > maxDepth) continue
          if (endings && (kind === 'directory' || !endings.some((one) => name.endsWith(one))))
            continue
          const type = kind === 'directory' ? 'directory' : 'file'
          const link = target === undefined ? {} : { isSymlink: true, symlinkTarget: target }
          found.push({ name, type, size, ...link })
        }
        return found
      },
      { missing: DirectoryNotFoundError },
    )
  }

  async exists(path: string): Promise<boolean> {
    return this.#files.exists(absolute(path))
  }

  async stat(path: string): Promise<FileStat> {
    const { kind, size, mtimeNs, ctimeNs } = await this.#look(path)
    return {
      name: posix.basename(path),
      path: absolute(path),
      type: kind === 'directory' ? 'directory' : 'file',
      size: kind === 'directory' ? 0 : size,
      createdAt: dateOf(ctimeNs),
      modifiedAt: dateOf(mtimeNs),
    }
  }

  get #files(): Files {
    return openAccess(this.#access).files
  }

  #look(path: string): Promise<CairnStat> {
    return this.#call('stat', path, (whole) => this.#files.stat(whole))
  }

  async #refuse(path: string, kind: CairnStat['kind'], Refusal: Failure): Promise<void> {
    if ((await this.#look(path)).kind === kind) throw new Refusal(path)
  }

  /** A time is coarser than a version: the write is refused for any change after this look. */
  async #versionAt(path: string, expected: Date): Promise<string> {
    const { etag, mtimeNs } = await this.#look(path)
    const actual = dateOf(mtimeNs)
    if (actual.getTime() !== expected.getTime()) throw new StaleFileError(path, expected, actual)
    return etag
  }

  async #unlessGone(force: boolean, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const isGone = error instanceof FileNotFoundError || error instanceof DirectoryNotFoundError
      if (!force || !isGone) throw error
    }
  }

  async #call<Result>(
    operation: string,
    path: string,
    work: (whole: string) => Promise<Result>,
    { missing: Missing = FileNotFoundError }: { readonly missing?: Failure } = {},
  ): Promise<Result> {
    try {
      return await work(absolute(path))
    } catch (error) {
      if (!isCairnError(error)) throw error
      const { errno, code } = error
      if (errno === 'ENOENT') throw new Missing(path)
      if (code === 'forbidden' || errno === 'EACCES') throw new PermissionError(path, operation)
      const Known = errno === undefined ? undefined : failures[errno]
      throw Known === undefined ? error : new Known(path)
    }
  }
}

type Failure = new (path: string) => Error

const failures: Readonly<Record<string, Failure>> = {
  EEXIST: FileExistsError,
  EISDIR: IsDirectoryError,
  ENOTDIR: NotDirectoryError,
  ENOTEMPTY: DirectoryNotEmptyError,
}
