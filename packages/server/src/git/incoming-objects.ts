import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { buffer } from 'node:stream/consumers'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { pushedMemoryMiB, startGit, whenDone } from './run-git.ts'

const packBytesMax = 4 * 2 ** 30

/** Objects of a push beside those of a repository: in it only once the push is accepted. */
export class IncomingObjects {
  readonly #repository: string
  readonly #directory: string

  constructor(repository: string) {
    this.#repository = repository
    this.#directory = join(repository, `incoming-${randomUUID()}`)
  }

  /** Takes a pack in, and checks each object of it. */
  async unpack(pack: AsyncIterable<Uint8Array>): Promise<void> {
    await mkdir(join(this.#directory, 'pack'), { recursive: true })
    const checks = ['--fix-thin', '--strict', `--max-input-size=${packBytesMax}`]
    const git = this.start(['index-pack', '--stdin', ...checks])
    git.stdout.resume()
    const sent = pipeline(Readable.from(pack), git.stdin)
    await Promise.all([sent, whenDone(git, 'take the pack in')])
  }

  /** A git that sees both. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams {
    const env = {
      GIT_OBJECT_DIRECTORY: this.#directory,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(this.#repository, 'objects'),
    }
    // Each thread takes memory of its own.
    const settings = ['-c', 'core.bigFileThreshold=64m', '-c', 'pack.threads=2']
    return startGit(['-C', this.#repository, ...settings, ...args], env, pushedMemoryMiB)
  }

  async ask(args: readonly string[], what = 'read what was pushed'): Promise<Buffer> {
    const git = this.start(args)
    git.stdin.end()
    const [output] = await Promise.all([buffer(git.stdout), whenDone(git, what)])
    return output
  }

  /** What git writes between NULs, some at a time. A reader that stops ends git. */
  async *fields(args: readonly string[]): AsyncGenerator<readonly string[]> {
    const git = this.start(args)
    const ended = whenDone(git, 'read what was pushed')
    ended.catch(() => {})
    git.stdin.end()
    let rest = ''
    try {
      for await (const chunk of git.stdout) {
        const fields = (rest + (chunk as Buffer).toString('latin1')).split('\0')
        rest = fields.pop()!
        yield fields
      }
      await ended
    } finally {
      git.kill()
    }
  }

  async keep(): Promise<void> {
    const from = join(this.#directory, 'pack')
    const names = await readdir(from).catch(() => [])
    // The index last: it makes git look into a pack.
    for (const name of names.toSorted((a, b) => Number(isIndex(a)) - Number(isIndex(b))))
      await rename(join(from, name), join(this.#repository, 'objects/pack', name))
  }

  async drop(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true })
  }
}

function isIndex(name: string): boolean {
  return name.endsWith('.idx')
}
