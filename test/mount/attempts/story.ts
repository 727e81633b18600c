import { readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Cairn, isCairnError, type Workspace } from '@cairn/sdk'
import { expect } from 'vitest'
import type { Site, SiteMount } from '../fixture.ts'
import { Random } from '../random/step.ts'
import {
  type Attempt,
  type Files,
  isAttempt,
  type Line,
  mergeNaively,
  newAttempt,
  put,
  replace,
} from './model.ts'

const names = ['a', 'b', 'c', 'd', 'e', 'f']
const attemptsMax = 4
const mountsMax = 4
/** Few, so that two sides often say the same; long enough to be blobs, and to be trimmed out of the log. */
const texts = [1, 2, 3, 4].map((text) => `text ${text} `.repeat(50 * text))

/**
 * Attempts at one directory, through mounts and through the API, that do whatever comes to mind while daemons and
 * servers are killed and garbage is collected; beside a model that merges path by path.
 */
export class Story {
  /** What was done, to find the reason of a failure. */
  readonly done: string[] = []
  readonly #site: Site
  readonly #random: Random
  readonly #main: Line = { name: 'main', files: new Map() }
  readonly #attempts: Attempt[] = []
  readonly #mounts = new Map<Line, SiteMount>()
  #count = 0
  #mounted = 0

  constructor(site: Site, seed: number) {
    this.#site = site
    this.#random = new Random(seed)
  }

  async begin(): Promise<void> {
    await this.#workspace.files.mkdir('/repo', { parents: true })
    for (const name of names.slice(0, 4)) await this.#writeByApi(this.#main, name, texts[0]!)
    await this.#mount(this.#main)
    await this.#create()
    await this.#create()
  }

  async step(): Promise<void> {
    const open = this.#open
    const attempt = open.length > 0 ? this.#random.one(open) : undefined
    const dice = this.#random.below(100)
    if (!attempt || (dice < 8 && open.length < attemptsMax)) return this.#create()
    if (dice < 56) return this.#edit(this.#random.one([this.#main, ...open]))
    if (dice < 64) return this.#checkpoint(attempt)
    if (dice < 72) return this.#rollback(attempt)
    if (dice < 76) return this.#undo(attempt)
    if (dice < 86) return this.#rebase(attempt)
    if (dice < 96) return this.#commit(attempt, () => Promise.resolve())
    return this.#abandon(attempt)
  }

  /** A daemon ends without a word, with what it has acknowledged and not sent. */
  async killDaemon(): Promise<void> {
    const [line, mount] = this.#random.one([...this.#mounts])
    await this.#editByMount(line, mount, this.#random.one(names))
    this.#note(`kill the daemon of ${line.name}`)
    process.kill((await mount.status()).pid, 'SIGKILL')
    await this.#editByMount(line, mount, this.#random.one(names))
  }

  /** The server ends without a goodbye: during a write, or in the middle of a commit. */
  async killServer(): Promise<void> {
    const restart = async (): Promise<void> => {
      this.#note('kill the server')
      await this.#site.stopServer('SIGKILL')
      await this.#site.startServer()
    }
    const ready = this.#open.filter((attempt) => this.#canCommit(attempt))
    const meanwhile = ready.length > 0 ? this.#random.below(2) : 1
    if (meanwhile === 0) return this.#commit(this.#random.one(ready), restart)
    const [line, mount] = this.#random.one([...this.#mounts])
    const edited = this.#editByMount(line, mount, this.#random.one(names))
    await restart()
    await edited
  }

  /** Every branch, through the API and through its mount. */
  async compareAll(): Promise<void> {
    for (const line of [this.#main, ...this.#open]) {
      await expect.poll(() => this.#readByApi(line), { message: line.name }).toEqual(line.files)
      const mount = this.#mounts.get(line)
      if (mount)
        await expect
          .poll(() => readAll(mount), { message: `${line.name}, mounted` })
          .toEqual(line.files)
    }
  }

  get #workspace(): Workspace {
    return new Cairn({ server: this.#site.url, apiKey: this.#site.key }).workspace('demo')
  }

  get #open(): readonly Attempt[] {
    return this.#attempts.filter(({ isClosed }) => !isClosed)
  }

  #note(what: string): void {
    this.done.push(what)
  }

  async #create(): Promise<void> {
    const parent =
      this.#random.below(3) === 0 ? this.#random.one([this.#main, ...this.#open]) : this.#main
    const name = `l${this.#count++}`
    this.#note(`make ${name} on ${parent.name}`)
    await this.#workspace.layers.create('/repo', { name, parent: parent.name })
    const attempt = newAttempt(name, parent)
    this.#attempts.push(attempt)
    if (this.#mounted < mountsMax) await this.#mount(attempt)
  }

  async #mount(line: Line): Promise<void> {
    this.#mounted++
    this.#mounts.set(line, await this.#site.mount('/repo', '--layer', line.name))
  }

  #edit(line: Line): Promise<void> {
    const name = this.#random.one(names)
    const mount = this.#random.below(3) > 0 ? this.#mounts.get(line) : undefined
    if (mount) return this.#editByMount(line, mount, name)
    if (line.files.has(name) && this.#random.below(4) === 0) return this.#removeByApi(line, name)
    return this.#writeByApi(line, name, this.#random.one(texts))
  }

  async #editByMount(line: Line, mount: SiteMount, name: string): Promise<void> {
    const path = mount.path(name)
    const how = this.#random.below(4)
    if (how === 0 && line.files.has(name)) {
      this.#note(`rm ${name} in ${line.name}`)
      await unlink(path)
      return put(line, name, undefined)
    }
    const text = this.#random.one(texts)
    this.#note(`${how === 1 ? 'save' : 'write'} ${name} in ${line.name}: ${text.slice(0, 6)}`)
    if (how === 1) {
      // As editors do.
      await writeFile(`${path}.new`, text)
      await rename(`${path}.new`, path)
    } else await writeFile(path, text)
    put(line, name, text)
  }

  async #writeByApi(line: Line, name: string, text: string): Promise<void> {
    this.#note(`put ${name} in ${line.name}: ${text.slice(0, 6)}`)
    await this.#filesOf(line).write(`/repo/${name}`, text)
    put(line, name, text)
  }

  async #removeByApi(line: Line, name: string): Promise<void> {
    this.#note(`delete ${name} in ${line.name}`)
    await this.#filesOf(line).remove(`/repo/${name}`)
    put(line, name, undefined)
  }

  async #readByApi(line: Line): Promise<Files> {
    const files = this.#filesOf(line)
    const found = new Map<string, string>()
    for await (const { name } of files.list('/repo'))
      found.set(name, await files.readText(`/repo/${name}`))
    return found
  }

  #filesOf({ name }: Line): Workspace['files'] {
    const workspace = this.#workspace
    return name === 'main' ? workspace.files : workspace.layer(name).files
  }

  async #checkpoint(attempt: Attempt): Promise<void> {
    const label = `c${this.#count++}`
    this.#note(`checkpoint ${label} of ${attempt.name}`)
    await this.#workspace.layers.checkpoint(attempt.name, { label })
    attempt.checkpoints = [...attempt.checkpoints, { label, files: attempt.files }]
  }

  async #rollback(attempt: Attempt): Promise<void> {
    const { label, files } = this.#random.one([
      ...attempt.checkpoints,
      { label: 'base', files: attempt.base },
    ])
    this.#note(`roll ${attempt.name} back to ${label}`)
    const before = attempt.files
    await this.#workspace.layers.rollback(attempt.name, { to: label })
    replace(attempt, files)
    attempt.before = before
  }

  async #undo(attempt: Attempt): Promise<void> {
    if (!attempt.before) return
    this.#note(`undo in ${attempt.name}`)
    await this.#workspace.layers.undo(attempt.name)
    replace(attempt, attempt.before)
  }

  async #rebase(attempt: Attempt): Promise<void> {
    this.#note(`rebase ${attempt.name}`)
    const { merged, conflicts } = mergeNaively(attempt)
    const found = await conflictsOf(this.#workspace.layers.rebase(attempt.name))
    expect(found).toEqual(conflicts)
    if (conflicts.length > 0) return
    attempt.base = attempt.parent.files
    replace(attempt, merged)
    // Behind a rebase there is no way back.
    attempt.checkpoints = []
  }

  #canCommit(attempt: Attempt): boolean {
    const { parent } = attempt
    const isParentOpen = !isAttempt(parent) || !parent.isClosed
    return isParentOpen && this.#open.every((other) => other.parent !== attempt)
  }

  async #commit(attempt: Attempt, meanwhile: () => Promise<void>): Promise<void> {
    if (!this.#canCommit(attempt)) return
    this.#note(`commit ${attempt.name}`)
    const { merged, conflicts } = mergeNaively(attempt)
    const { layers } = this.#workspace
    const idempotencyKey = `commit-${this.#count++}`
    const commit = (): Promise<readonly string[] | undefined> =>
      conflictsOf(layers.commit(attempt.name, { idempotencyKey })).catch(unlessUnreachable)
    const twice = Promise.all([commit(), commit()])
    await meanwhile()
    // A client without an answer asks again under the same key.
    for (const answer of await twice) expect(answer ?? (await commit())).toEqual(conflicts)
    if (conflicts.length > 0) return
    replace(attempt.parent, merged)
    this.#close(attempt)
  }

  async #abandon(attempt: Attempt): Promise<void> {
    if (this.#open.some((other) => other.parent === attempt)) return
    this.#note(`abandon ${attempt.name}`)
    await this.#workspace.layers.abandon(attempt.name)
    this.#close(attempt)
  }

  #close(attempt: Attempt): void {
    attempt.isClosed = true
    this.#mounts.delete(attempt)
  }
}

/** The names in conflict; none when it was done. */
async function conflictsOf(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work
    return []
  } catch (error) {
    if (!isCairnError(error, 'layer_conflict') || !error.conflicts) throw error
    return [...new Set(error.conflicts.map(({ path }) => path.replace('/repo/', '')))].sort()
  }
}

function unlessUnreachable(error: unknown): undefined {
  if (!isCairnError(error, 'unreachable')) throw error
}

async function readAll(mount: SiteMount): Promise<Files> {
  const found = new Map<string, string>()
  for (const name of await readdir(mount.directory))
    found.set(name, await readFile(join(mount.directory, name), 'utf8'))
  return found
}
