import { posix } from 'node:path'
import type { Sandbox as E2BInstance } from 'e2b'
import { shellQuote } from '@cairn/protocol'
import { parseListing, pickMatches } from '../pick-matches.ts'
import type { CallOptions, SandboxGlobOptions, SandboxFs } from '../sandbox.ts'
import { environmentOf } from '../workspace/call-environment.ts'
import { startProcess } from './start-process.ts'

/** What the files are of. */
export interface E2BFSHost {
  readonly workDir: string
  /** Throws, or makes one, where there is none. */
  getE2BInstance(): E2BInstance | Promise<E2BInstance>
}

const listTimeoutMs = 30_000

/** Files of an E2B sandbox. Globs mean the same as in every other sandbox: `*` stays inside a directory. */
export class E2BFS implements SandboxFs {
  readonly #host: E2BFSHost

  constructor(host: E2BFSHost) {
    this.#host = host
  }

  resolve(path: string): string {
    if (path.startsWith('/')) return path
    return `${this.#host.workDir}/${path}`.replaceAll(/\/{2,}/g, '/')
  }

  /** The machine itself is the boundary. */
  isInside(_path: string): boolean {
    return true
  }

  async read(path: string): Promise<string> {
    return (await this.#host.getE2BInstance()).files.read(this.resolve(path))
  }

  async readBytes(path: string): Promise<Uint8Array> {
    const e2b = await this.#host.getE2BInstance()
    return e2b.files.read(this.resolve(path), { format: 'bytes' })
  }

  async write(path: string, content: string | Uint8Array, call: CallOptions = {}): Promise<void> {
    const e2b = await this.#host.getE2BInstance()
    if (call.toolCall !== undefined) return writeByCommand(e2b, this.resolve(path), content, call)
    const data = typeof content === 'string' ? content : new Blob([new Uint8Array(content)])
    await e2b.files.write(this.resolve(path), data)
  }

  temp(name: string = `temp-${Date.now()}-${Math.random().toString(36).slice(2, 8)}`): string {
    return posix.join('/tmp', name)
  }

  async stat(path: string): Promise<{ readonly mtimeMs: number }> {
    const { modifiedTime } = await (
      await this.#host.getE2BInstance()
    ).files.getInfo(this.resolve(path))
    if (modifiedTime === undefined)
      throw new Error(
        `cannot tell when ${path} was changed: the sandbox's template is too old to say. Build it again.`,
      )
    return { mtimeMs: modifiedTime.getTime() }
  }

  async glob(pattern: string, options: SandboxGlobOptions = {}): Promise<string[]> {
    const base = posix.normalize(this.resolve(options.cwd ?? '.'))
    const { workDir } = this.#host
    return pickMatches(await this.#filesBelow(base), pattern, options, { base, workDir })
  }

  /** One call, however many there are. */
  async #filesBelow(base: string): Promise<string[]> {
    const e2b = await this.#host.getE2BInstance()
    // find also fails for what it may not enter and for links in a circle: what it found counts.
    const command = `cd ${shellQuote(base)} 2>&- && find -L . -type f -print0 2>&-; true`
    const { stdout } = await e2b.commands.run(command, { timeoutMs: listTimeoutMs })
    return parseListing(stdout)
  }
}

/** E2B's own way to write a file has no environment to name a call in. */
async function writeByCommand(
  e2b: E2BInstance,
  path: string,
  content: string | Uint8Array,
  call: CallOptions,
): Promise<void> {
  const script = `mkdir -p -- ${shellQuote(posix.dirname(path))} && exec cat > ${shellQuote(path)}`
  const envs = { ...environmentOf(call) }
  const program = await startProcess(e2b, script, { cwd: '/', envs, stdin: true })
  const input = program.stdin!.getWriter()
  await input.write(typeof content === 'string' ? new TextEncoder().encode(content) : content)
  await input.close()
  const [said, code] = await Promise.all([new Response(program.stderr).text(), program.wait()])
  if (code !== 0) throw new Error(`cannot write ${path} in the sandbox: ${said.trim()}`)
}
