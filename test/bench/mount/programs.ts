import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** The compiled client: what measures must not be what is slow. */
export class Client {
  readonly #path: string

  constructor(directory: string) {
    this.#path = compile(directory, 'client', [])
  }

  /** The seconds that one of its works took. */
  async seconds(
    args: readonly string[],
    options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
  ): Promise<number> {
    const { stdout } = await execute(this.#path, args, options)
    return Number(stdout) / 1e9
  }
}

/** Compiles `test/bench/NAME.c`. */
export function compile(directory: string, name: string, flags: readonly string[]): string {
  const source = fileURLToPath(new URL(`../${name}.c`, import.meta.url))
  const target = join(directory, name)
  execFileSync('cc', ['-O2', source, '-o', target, ...flags])
  return target
}

/** So that none of what came before is written to the disk during what comes next. */
export async function settleDisk(directory: string): Promise<void> {
  await execute('sync', ['-f', directory])
}
