import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { compile } from './programs.ts'

/** The yardstick for everything that must go through a daemon: one in C that keeps its files in memory. */
export class MemoryFs {
  readonly directory: string
  readonly #process: ChildProcess

  private constructor(directory: string, process: ChildProcess) {
    this.directory = directory
    this.#process = process
  }

  /** Gives the program, or why there is none. */
  static build(directory: string): { readonly program: string } | { readonly missing: string } {
    let flags: string
    try {
      flags = execFileSync('pkg-config', ['--cflags', '--libs', 'fuse3'], {
        encoding: 'utf8',
        stdio: 'pipe',
      })
    } catch {
      return { missing: 'libfuse3-dev is not installed' }
    }
    return { program: compile(directory, 'memory-fs', flags.split(/\s+/).filter(Boolean)) }
  }

  /** Empty, or with so many directories and files in each. */
  static async open(
    program: string,
    parent: string,
    fill: readonly [directories: number, files: number] | readonly [] = [],
  ): Promise<MemoryFs> {
    const directory = join(parent, 'memory-fs-mount')
    mkdirSync(directory, { recursive: true })
    const child = spawn(program, [directory, ...fill.map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface(child.stdout)
    const ended = once(child, 'exit')
    const [line] = (await Promise.race([once(lines, 'line'), ended])) as [unknown]
    if (line !== 'mounted') throw new Error(`memory-fs did not mount on ${directory}`)
    return new MemoryFs(directory, child)
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit')
    execFileSync('umount', [this.directory])
    await ended
  }
}
