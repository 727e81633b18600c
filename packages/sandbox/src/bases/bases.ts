import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { builtInImages, ImageError, specOf } from './images.ts'
import { interpreterProgram } from './interpreter-program.ts'
import { makeBase, type SayLine, whyNoBases } from './make-base.ts'
import { type BaseSpec, nameOfBase } from './spec.ts'

interface Making {
  readonly done: Promise<string>
  readonly listeners: Set<SayLine>
}

/**
 * Systems that sandboxes start from, made once from the packages of Debian and npm and then only
 * read. Several servers share a directory of them. Nothing here removes one: the disks of paused
 * sandboxes and templates lie over it.
 */
export class Bases {
  readonly #directory: string
  readonly #making = new Map<string, Making>()
  readonly #abort = new AbortController()

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Where the system of an image or a built-in template is, once it is made. `say` is told of the steps. */
  async open(image: string, say: SayLine = () => undefined): Promise<string> {
    const spec = this.#spec(image)
    const place = this.#place(spec)
    if (existsSync(place)) return place
    const why = whyNoBases()
    if (why !== undefined)
      throw new ImageError(
        `this server cannot make ${image}: ${why}. Change that, or let base be the system of this machine: ` +
          'cairn sandbox serve --host-system.',
      )
    const making = this.#making.get(place) ?? this.#start(spec, place)
    making.listeners.add(say)
    return making.done
  }

  /** Whether it can be used at once. */
  isMade(image: string): boolean {
    return existsSync(this.#place(this.#spec(image)))
  }

  /** Ends what is being made. The next server begins again. */
  async close(): Promise<void> {
    this.#abort.abort()
    await Promise.allSettled([...this.#making.values()].map(({ done }) => done))
  }

  #spec(image: string): BaseSpec {
    const arch = process.arch === 'arm64' ? 'arm64' : 'amd64'
    return specOf(builtInImages[image] ?? image, arch)
  }

  #place(spec: BaseSpec): string {
    return join(this.#directory, nameOfBase(spec, interpreterProgram), 'root')
  }

  #start(spec: BaseSpec, place: string): Making {
    const listeners = new Set<SayLine>()
    const say: SayLine = (line) => {
      for (const each of listeners) each(line)
    }
    const done = this.#make(spec, place, say).finally(() => this.#making.delete(place))
    const making = { done, listeners }
    this.#making.set(place, making)
    return making
  }

  /** What a server was making when it was killed. */
  async #sweep(): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      const maker = /^making-(\d+)-/.exec(name)?.[1]
      if (maker !== undefined && !existsSync(`/proc/${maker}`))
        await rm(join(this.#directory, name), { recursive: true, force: true })
    }
  }

  async #make(spec: BaseSpec, place: string, say: SayLine): Promise<string> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await this.#sweep()
    const draft = await mkdtemp(join(this.#directory, `making-${process.pid}-`))
    try {
      await makeBase(spec, draft, say, this.#abort.signal)
      // Another server may have been quicker; its base is the same.
      await rename(draft, join(place, '..')).catch((error: unknown) => {
        if (!existsSync(place)) throw error
      })
      return place
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  }
}
