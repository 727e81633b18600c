import type { BufferEncoding, FileContent, FsStat, IFileSystem } from 'just-bash'
import { AsyncLocalStorage } from 'node:async_hooks'
import { posix } from 'node:path'
import { type Files, type FileStat, isCairnError } from '@cairn/sdk'
import { dateOf } from '../file-time.ts'
import { openAccess, type WorkspaceAccess } from '../workspace-access.ts'

/**
 * The files of a workspace for just-bash: a shell in this process, without a mount and without a machine. Each call asks
 * the server for what it needs, so a workspace of any size is there at once.
 *
 * @example
 * ```ts
 * const fs = cairnFileSystem({ server: 'http://127.0.0.1:7070', apiKey, workspace: 'default' })
 * const { stdout } = await new Bash({ fs, cwd: '/' }).exec('grep -rn TODO src | head')
 * ```
 */
export function cairnFileSystem(access: WorkspaceAccess): IFileSystem {
  return new CairnFileSystem(access)
}

type Encoding = { readonly encoding?: BufferEncoding | null } | BufferEncoding

/** Symlinks in one path, as in Linux. */
const linksMax = 40

class CairnFileSystem implements IFileSystem {
  readonly #access: WorkspaceAccess
  /** While a script runs, just-bash forbids this program's timers to it, and asks for the asynchronous context to know. */
  readonly #outside = AsyncLocalStorage.snapshot()

  constructor(access: WorkspaceAccess) {
    this.#access = access
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    const bytes = await this.readFileBuffer(path)
    return Buffer.from(bytes).toString(encodingOf(options))
  }

  readFileBuffer(path: string): Promise<Uint8Array> {
    return this.#asNode('open', path, (files) => files.read(path))
  }

  /** Makes missing directories, as the file system of just-bash itself does. */
  async writeFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    const bytes = bytesOf(content, options)
    await this.#asNode('open', path, (files) => files.write(path, bytes))
  }

  async appendFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    const bytes = bytesOf(content, options)
    await this.#asNode('open', path, (files) => files.append(path, bytes))
  }

  exists(path: string): Promise<boolean> {
    return this.#asNode('access', path, (files) => files.exists(path))
  }

  async stat(path: string): Promise<FsStat> {
    return factsOf(await this.#asNode('stat', path, (files) => files.stat(path)))
  }

  async lstat(path: string): Promise<FsStat> {
    return factsOf(
      await this.#asNode('lstat', path, (files) => files.stat(path, { follow: false })),
    )
  }

  async mkdir(path: string, { recursive = false } = {}): Promise<void> {
    await this.#asNode('mkdir', path, (files) => files.mkdir(path, { parents: recursive }))
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name)
  }

  readdirWithFileTypes(
    path: string,
  ): Promise<{ name: string; isFile: boolean; isDirectory: boolean; isSymbolicLink: boolean }[]> {
    return this.#asNode('scandir', path, async (files) => {
      const entries = []
      for await (const { name, kind } of files.list(path))
        entries.push({
          name,
          isFile: kind === 'file',
          isDirectory: kind === 'directory',
          isSymbolicLink: kind === 'symlink',
        })
      return entries
    })
  }

  async rm(path: string, { recursive = false, force = false } = {}): Promise<void> {
    try {
      await this.#asNode('rm', path, (files) => files.remove(path, { recursive }))
    } catch (error) {
      if (!force || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }

  /** At the server, which reads no bytes for it. */
  async cp(from: string, to: string, { recursive = false } = {}): Promise<void> {
    if (!recursive && (await this.stat(from)).isDirectory) throw nodeError('EISDIR', 'cp', from)
    await this.#asNode('cp', from, (files) => files.copy(from, to))
  }

  async mv(from: string, to: string): Promise<void> {
    await this.#asNode('rename', from, (files) => files.move(from, to))
  }

  resolvePath(base: string, path: string): string {
    return posix.resolve('/', base, path)
  }

  /** None: a workspace may have millions. The shell then reads the directories that a pattern names. */
  getAllPaths(): string[] {
    return []
  }

  async chmod(path: string, mode: number): Promise<void> {
    await this.#asNode('chmod', path, (files) => files.chmod(path, mode & 0o7777))
  }

  async symlink(target: string, path: string): Promise<void> {
    await this.#asNode('symlink', path, (files) => files.symlink(target, path))
  }

  async link(existing: string, path: string): Promise<void> {
    await this.#asNode('link', existing, (files) => files.link(existing, path))
  }

  async readlink(path: string): Promise<string> {
    const { target } = await this.#asNode('readlink', path, (files) =>
      files.stat(path, { follow: false }),
    )
    if (target === undefined) throw nodeError('EINVAL', 'readlink', path)
    return target
  }

  async realpath(path: string): Promise<string> {
    let real = '/'
    let left = partsOf(path)
    for (let links = 0; left.length > 0;) {
      const next = posix.join(real, left.shift()!)
      const { target } = await this.#asNode('realpath', path, (files) =>
        files.stat(next, { follow: false }),
      )
      if (target === undefined) real = next
      else if (++links > linksMax) throw nodeError('ELOOP', 'realpath', path)
      else [real, left] = ['/', [...partsOf(posix.resolve(real, target)), ...left]]
    }
    return real
  }

  async utimes(path: string, _accessed: Date, mtime: Date): Promise<void> {
    await this.#asNode('utime', path, (files) => files.touch(path, { mtime }))
  }

  /** The commands of the shell know the errors of Node. */
  async #asNode<Result>(
    call: string,
    path: string,
    work: (files: Files) => Promise<Result>,
  ): Promise<Result> {
    // The tool call is known in here alone.
    const { files } = openAccess(this.#access)
    try {
      return await this.#outside(work, files)
    } catch (error) {
      if (!isCairnError(error) || error.errno === undefined) throw error
      throw nodeError(error.errno, call, path)
    }
  }
}

function factsOf({ kind, mode, size, mtimeNs, ino }: FileStat): FsStat {
  return {
    isFile: kind === 'file',
    isDirectory: kind === 'directory',
    isSymbolicLink: kind === 'symlink',
    mode: Number.parseInt(mode, 8),
    size,
    mtime: dateOf(mtimeNs),
    ino,
  }
}

function bytesOf(content: FileContent, options: Encoding | undefined): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, encodingOf(options)) : content
}

function encodingOf(options: Encoding | undefined): BufferEncoding {
  return (typeof options === 'string' ? options : options?.encoding) ?? 'utf8'
}

function partsOf(path: string): string[] {
  return posix
    .resolve('/', path)
    .split('/')
    .filter((part) => part !== '')
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EEXIST: 'file already exists',
  EISDIR: 'illegal operation on a directory',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EACCES: 'permission denied',
  EROFS: 'read-only file system',
  EINVAL: 'invalid argument',
  ELOOP: 'too many symbolic links',
}

function nodeError(code: string, call: string, path: string): Error {
  const message = `${code}: ${words[code] ?? 'the call failed'}, ${call} '${path}'`
  return Object.assign(new Error(message), { code })
}
