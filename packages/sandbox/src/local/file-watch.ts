import { setTimeout as sleep } from 'node:timers/promises'
import type { Jail } from '../jail/jail.ts'
import type { FileChange } from '../sandbox.ts'
import { parseMtime } from './local-files.ts'
import { runInside } from '../workspace/run-inside.ts'

const pauseMs = 250
/** One line a path, empty where there is nothing. */
const script = 'for path; do stat -L -c %.9Y -- "$path" 2>&- || echo; done'

/**
 * Looks at files again and again: in a workspace they change by the hand of another sandbox, too, of which inotify tells
 * nothing.
 */
export class FileWatch {
  readonly #jail: Jail
  readonly #paths: readonly string[]
  readonly #listener: (change: FileChange) => void
  readonly #stopped = new AbortController()
  #known: readonly string[] = []

  private constructor(
    jail: Jail,
    paths: readonly string[],
    listener: (change: FileChange) => void,
  ) {
    this.#jail = jail
    this.#paths = paths
    this.#listener = listener
  }

  /** Rejects when one of the paths does not exist. */
  static async start(
    jail: Jail,
    paths: readonly string[],
    listener: (change: FileChange) => void,
  ): Promise<FileWatch> {
    const watch = new FileWatch(jail, paths, listener)
    watch.#known = await watch.#look()
    const missing = paths.find((_, at) => watch.#known[at] === '')
    if (missing !== undefined)
      throw Object.assign(
        new Error(`cannot watch ${missing} in the sandbox: ENOENT: it does not exist`),
        {
          code: 'ENOENT',
        },
      )
    void watch.#follow()
    return watch
  }

  stop(): void {
    this.#stopped.abort()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted)
      try {
        await sleep(pauseMs, undefined, { signal, ref: false })
        this.#tell(await this.#look())
      } catch {
        // Stopped, or the sandbox is gone: there is nothing more to tell.
        return
      }
  }

  #tell(now: readonly string[]): void {
    const before = this.#known
    this.#known = now
    for (const [at, path] of this.#paths.entries())
      if (now[at] !== '' && now[at] !== before[at] && !this.#stopped.signal.aborted)
        this.#listener({ path, mtimeMs: parseMtime(now[at]!) })
  }

  async #look(): Promise<readonly string[]> {
    const args = ['/bin/sh', '-c', script, 'sh', ...this.#paths]
    const { stdout } = await runInside(this.#jail, { args, cwd: '/' })
    return stdout.split('\n').slice(0, this.#paths.length)
  }
}
