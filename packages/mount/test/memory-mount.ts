import { closeSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { mountFuse, unmount } from '../src/fuse/mounting.ts'
import { type FuseServer, serveFuse, type ServeFuseOptions } from '../src/fuse/serve.ts'
import { type Client, runClient, startClient } from './client.ts'
import { MemoryFileSystem } from './memory-file-system.ts'

export const hasFuse: boolean = existsSync('/dev/fuse') && process.getuid?.() === 0

/** Since Linux 6.9 the kernel asks a new daemon again what the one before did not answer. */
export const kernelAsksAgain: boolean = isKernelFrom(6, 9) && !('CAIRN_FUSE_MINOR' in process.env)

function isKernelFrom(major: number, minor: number): boolean {
  const [ourMajor = 0, ourMinor = 0] = release().split('.').map(Number)
  return ourMajor > major || (ourMajor === major && ourMinor >= minor)
}

/** A directory with a mount on it that nothing serves yet. */
export async function mountTemporary(): Promise<{ dir: string; fd: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'cairn-fuse-'))
  const { fd } = await mountFuse(dir, { fsName: 'memory', allowOther: true })
  return { dir, fd }
}

/** Lazily: whatever a failed test left open must not keep the mount. */
export async function removeMount(dir: string, fd: number): Promise<void> {
  await unmount(dir, { lazy: true }).catch(() => undefined)
  closeSync(fd)
  rmSync(dir, { recursive: true })
}

/** A memory file system that this process answers for. */
export class MemoryMount<T extends MemoryFileSystem = MemoryFileSystem> {
  readonly fs: T
  readonly errors: unknown[] = []
  readonly dir: string
  readonly fd: number
  server!: FuseServer
  readonly #clients: Client[] = []

  private constructor(fs: T, dir: string, fd: number) {
    this.fs = fs
    this.dir = dir
    this.fd = fd
  }

  static start(options: ServeFuseOptions = {}): Promise<MemoryMount> {
    return MemoryMount.serve(new MemoryFileSystem(), options)
  }

  /** Its file system is there when `opened` resolves. */
  static async serve<T extends MemoryFileSystem>(
    fs: T,
    options: ServeFuseOptions = {},
    opened?: Promise<void>,
  ): Promise<MemoryMount<T>> {
    const { dir, fd } = await mountTemporary()
    const mount = new MemoryMount(fs, dir, fd)
    mount.server = await serveFuse(fd, opened?.then(() => fs) ?? fs, {
      negativeTtl: 3600,
      onError: (error) => mount.errors.push(error),
      ...options,
    })
    return mount
  }

  /** Runs `body` in another process. */
  run(body: string): Promise<unknown> {
    return runClient(this.dir, body)
  }

  start(body: string): Client {
    const client = startClient(this.dir, body)
    client.result.catch(() => undefined)
    this.#clients.push(client)
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#clients) child.kill('SIGKILL')
    this.server.stop()
    await removeMount(this.dir, this.fd)
  }
}
