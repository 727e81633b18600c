import { posix } from 'node:path'
import { parseListing, pickMatches } from '../pick-matches.ts'
import type { Jail } from '../jail/jail.ts'
import type { CallOptions, SandboxGlobOptions, SandboxFs } from '../sandbox.ts'
import { environmentOf } from '../workspace/call-environment.ts'
import { type Ran, runInside } from '../workspace/run-inside.ts'

export interface LocalFilesOptions {
  readonly workDir: string
  /** Real paths must be inside `workDir` or one of these; undefined: anywhere in the sandbox. */
  readonly roots: readonly string[] | undefined
  /** The machine, made if there is none yet. */
  readonly jail: () => Promise<Jail>
}

const outsideCode = 113
/** Where a path leads, symlinks and all, is asked inside. `$real` is the answer; what follows works on it. */
const findReal = `
real=$(realpath -m -- "$1") || exit
path=$1
shift
inside=$#
for root; do
  root=$(realpath -m -- "$root")
  case "$real/" in "\${root%/}"/*) inside=0 ;; esac
done
test "$inside" -eq 0 || exit ${outsideCode}
`
const readScript = `${findReal} exec cat -- "$real"`
const writeScript = `${findReal} mkdir -p -- "$(dirname -- "$real")" && exec cat > "$real"`
const statScript = `${findReal} exec stat -c %.9Y -- "$real"`
const listScript = `${findReal} cd -- "$real" 2>&- && exec find -L . -type f -print0 2>&-`

/** Files of a local sandbox, read and written by programs in it: a symlink leads nowhere but inside. */
export class LocalFiles implements SandboxFs {
  readonly #options: LocalFilesOptions

  constructor(options: LocalFilesOptions) {
    this.#options = options
  }

  resolve(path: string): string {
    return posix.resolve(this.#options.workDir, path)
  }

  /** By its words alone; what a symlink makes of it is checked on every use. */
  isInside(path: string): boolean {
    const { roots } = this.#options
    const whole = this.resolve(path)
    return roots === undefined || this.#all(roots).some((root) => isBelow(root, whole))
  }

  async read(path: string): Promise<string> {
    return (await this.#run(readScript, path, 'read')).stdout
  }

  async readBytes(path: string): Promise<Uint8Array> {
    return (await this.#run(readScript, path, 'read')).bytes
  }

  async write(
    path: string,
    content: string | Uint8Array,
    options: CallOptions = {},
  ): Promise<void> {
    await this.#run(writeScript, path, 'write', { ...options, stdin: content })
  }

  temp(name: string = `temp-${Date.now()}-${Math.random().toString(36).slice(2, 8)}`): string {
    return posix.join('.temp', name)
  }

  async stat(path: string): Promise<{ readonly mtimeMs: number }> {
    return { mtimeMs: parseMtime((await this.#run(statScript, path, 'stat')).stdout) }
  }

  async glob(pattern: string, options: SandboxGlobOptions = {}): Promise<string[]> {
    const { cwd = '.' } = options
    const base = this.resolve(cwd)
    const ran = await this.#start(listScript, base)
    if (ran.code === outsideCode) throw outside(cwd)
    const { workDir } = this.#options
    return pickMatches(parseListing(ran.stdout), pattern, options, { base, workDir })
  }

  #all(roots: readonly string[]): string[] {
    const { workDir } = this.#options
    return [workDir, ...roots.map((root) => posix.resolve(workDir, root))]
  }

  async #run(script: string, path: string, verb: string, options?: Input): Promise<Ran> {
    const whole = this.resolve(path)
    const ran = await this.#start(script, whole, options)
    if (ran.code === 0) return ran
    if (ran.code === outsideCode) throw outside(path)
    throw cannot(verb, path, ran.stderr)
  }

  async #start(script: string, whole: string, { stdin, ...call }: Input = {}): Promise<Ran> {
    const { roots, jail } = this.#options
    const args = ['/bin/sh', '-c', script, 'sh', whole, ...(roots ? this.#all(roots) : [])]
    return runInside(
      await jail(),
      { args, cwd: '/', env: { LC_ALL: 'C', ...environmentOf(call) } },
      stdin === undefined ? {} : { stdin },
    )
  }
}

interface Input extends CallOptions {
  readonly stdin?: string | Uint8Array
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`)
}

function outside(path: string): Error {
  return new Error(`Path outside sandbox: ${path}`)
}

/** With the code of the system's error, as Node's own functions give it. */
function cannot(verb: string, path: string, said: string): Error {
  const code = /No such file/.test(said)
    ? 'ENOENT'
    : /Permission denied/.test(said)
      ? 'EACCES'
      : /Is a directory/.test(said)
        ? 'EISDIR'
        : 'EIO'
  return Object.assign(
    new Error(`cannot ${verb} ${path} in the sandbox: ${code}: ${said.trim()}`),
    {
      code,
    },
  )
}

/** `1700000000.123456789`, as Node gives it: milliseconds with a fraction. */
export function parseMtime(text: string): number {
  const [seconds = '0', fraction = '0'] = text.trim().split('.')
  return Number(seconds) * 1000 + Number(fraction.padEnd(9, '0')) / 1e6
}
