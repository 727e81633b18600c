import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { Jail, JailBase } from '../../jail/jail.ts'
import { runProgram } from '../../jail/run-program.ts'

/**
 * Copies of jails' disks, by name. An absolute path is no copy but a base, which is shared and stays. Jails read them while they run, so a copy is removed only when
 * no jail uses it.
 */
export class Disks {
  readonly #directory: string
  readonly #users = new Map<string, number>()
  readonly #unwanted = new Set<string>()

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Keeps those that are named, and removes what a crash left of others. */
  static async open(directory: string, isKept: (name: string) => boolean): Promise<Disks> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    for (const name of await readdir(directory))
      if (!isKept(name)) await removeTree(join(directory, name))
    return new Disks(directory)
  }

  /** A copy of a jail's disk, under a new name. A durable one would survive a power cut. */
  async take(jail: Jail, { durable }: { readonly durable: boolean }): Promise<string> {
    const name = randomUUID()
    await jail.snapshot(this.path(name))
    if (durable) await runProgram('sync', ['-f', this.path(name)])
    return name
  }

  path(name: string): string {
    return join(this.#directory, name)
  }

  base(name: string | undefined): JailBase {
    if (name === undefined) return 'host'
    return isAbsolute(name) ? { rootfs: name } : { snapshot: this.path(name) }
  }

  /** Until `release`, it stays. */
  hold(name: string | undefined): void {
    if (name !== undefined) this.#users.set(name, (this.#users.get(name) ?? 0) + 1)
  }

  async release(name: string | undefined): Promise<void> {
    if (name === undefined) return
    const left = (this.#users.get(name) ?? 1) - 1
    if (left > 0) this.#users.set(name, left)
    else {
      this.#users.delete(name)
      if (this.#unwanted.has(name)) await this.remove(name)
    }
  }

  /** At once, or when the last jail that reads it has ended. */
  async remove(name: string | undefined): Promise<void> {
    if (name === undefined || isAbsolute(name)) return
    if (this.#users.has(name)) {
      this.#unwanted.add(name)
      return
    }
    this.#unwanted.delete(name)
    await removeTree(this.path(name))
  }
}

function removeTree(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 })
}
