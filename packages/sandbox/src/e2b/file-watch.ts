import type { CommandHandle, Sandbox as E2BInstance } from 'e2b'
import { shellQuote } from '@cairn/protocol'
import { parseMtime } from '../local/local-files.ts'
import type { FileChange } from '../sandbox.ts'

/**
 * Looks twice a second, in the sandbox: inotify sees nothing of what others write to a workspace, and E2B refuses it
 * there. Each line is a time and a path.
 */
const script = `
last=
while :; do
  now=$(stat -c '%.9Y %n' -- "$@" 2>/dev/null)
  [ "$now" = "$last" ] || printf '%s\\n\\n' "$now"
  last=$now
  sleep 0.5
done`

/** Files of an E2B sandbox that are watched, by their real times. */
export class FileWatch {
  readonly #listener: (change: FileChange) => void
  readonly #known = new Map<string, string>()
  readonly #first = Promise.withResolvers<void>()
  #command: CommandHandle | undefined
  #text = ''

  private constructor(listener: (change: FileChange) => void) {
    this.#listener = listener
  }

  /** Resolves when every later change will be told. Rejects for a path that does not exist. */
  static async start(
    e2b: E2BInstance,
    paths: readonly string[],
    listener: (change: FileChange) => void,
  ): Promise<FileWatch> {
    for (const path of paths) {
      if (path.includes('\n')) throw new Error(`cannot watch ${path}: its name has a line break`)
      await e2b.files.getInfo(path)
    }
    const watch = new FileWatch(listener)
    watch.#command = await e2b.commands.run(`set -- ${paths.map(shellQuote).join(' ')}${script}`, {
      background: true,
      timeoutMs: 0,
      onStdout: (text) => watch.#take(text),
    })
    watch.#command.wait().catch(() => watch.#first.resolve())
    await watch.#first.promise
    return watch
  }

  stop(): void {
    // A machine that is gone has nothing to stop.
    void this.#command?.kill().catch(() => undefined)
  }

  #take(text: string): void {
    this.#text += text
    const looks = this.#text.split('\n\n')
    this.#text = looks.pop() ?? ''
    for (const look of looks) this.#compare(look)
  }

  #compare(look: string): void {
    const isFirst = this.#known.size === 0
    for (const line of look.split('\n')) {
      const [time = '', ...rest] = line.split(' ')
      const path = rest.join(' ')
      if (path === '' || this.#known.get(path) === time) continue
      this.#known.set(path, time)
      if (!isFirst) this.#listener({ path, mtimeMs: parseMtime(time) })
    }
    this.#first.resolve()
  }
}
