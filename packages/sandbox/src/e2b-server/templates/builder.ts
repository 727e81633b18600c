import type { Jail } from '../../jail/jail.ts'
import type { Host } from '../sandboxes/host.ts'
import { Machine, type MachineSettings } from '../envd/machine.ts'
import { startService } from '../sandboxes/boot.ts'
import { ApiError } from '../api-error.ts'
import type { BuildFiles } from './build-files.ts'
import type { BuildSpec } from './build-spec.ts'
import type { Catalog } from './catalog.ts'
import { runSteps } from './build-steps.ts'
import { StepError } from './run-step.ts'
import type { StepCache } from './step-cache.ts'
import { type Build, defaultSettings, defaultTag, type Template } from '../template.ts'

export interface BuildLogEntry {
  readonly timestamp: string
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly step?: string
}

type Log = (level: BuildLogEntry['level'], message: string, step?: string) => void

const logEntriesMax = 20_000

interface BuilderParts {
  readonly host: Host
  readonly catalog: Catalog
  readonly files: BuildFiles
  readonly cache: StepCache
}

/** Builds templates, each in a jail of its own. */
export class Builder {
  readonly files: BuildFiles
  readonly #host: Host
  readonly #catalog: Catalog
  readonly #cache: StepCache
  readonly #logs = new Map<string, BuildLogEntry[]>()
  readonly #tags = new Map<string, readonly string[]>()
  readonly #running = new Map<string, Promise<void>>()

  constructor({ host, catalog, files, cache }: BuilderParts) {
    this.#host = host
    this.#catalog = catalog
    this.#cache = cache
    this.files = files
  }

  /** Which tags the build gets when it is done. */
  expect(buildId: string, tags: readonly string[]): void {
    this.#tags.set(buildId, tags)
  }

  logsOf(buildId: string): readonly BuildLogEntry[] {
    return this.#logs.get(buildId) ?? []
  }

  start(template: Template, build: Build, spec: BuildSpec): void {
    if (build.status !== 'waiting') throw new ApiError(409, `the build is ${build.status}`)
    build.status = 'building'
    const entries: BuildLogEntry[] = []
    this.#logs.set(build.id, entries)
    const log: Log = (level, message, step) => {
      // Those at its end tell how it ended: they have room in any case.
      if (entries.length >= logEntriesMax && level === 'info' && step !== undefined) return
      const timestamp = new Date().toISOString()
      entries.push({ timestamp, level, message, ...(step === undefined ? {} : { step }) })
    }
    const running = this.#build(template, build, spec, log).finally(() =>
      this.#running.delete(build.id),
    )
    this.#running.set(build.id, running)
  }

  /**
   * Resolves when none is under way any more. The code that ends the server must end their jails.
   */
  async close(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  async #build(template: Template, build: Build, spec: BuildSpec, log: Log): Promise<void> {
    try {
      build.disk = await this.#make(build, spec, log)
      build.status = 'ready'
      for (const tag of this.#tags.get(build.id) ?? [defaultTag]) template.tags[tag] = build.id
      // One that was only ever built under a tag can still be named without.
      template.tags[defaultTag] ??= build.id
      log('info', 'Build finished')
      for (const disk of this.#catalog.forgetUntagged(template)) await this.#host.disks.remove(disk)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const step = error instanceof StepError ? error.step : 'base'
      log('error', message, step)
      build.status = 'error'
      build.reason = { message, step }
    }
    await this.#catalog.save(template)
  }

  async #make(build: Build, spec: BuildSpec, log: Log): Promise<string> {
    const base = await this.#base(spec, log)
    const { disks } = this.#host
    const { jail, settings } = await runSteps(
      {
        spec,
        disks,
        cache: this.#cache,
        files: this.files,
        makeJail: (disk) => this.#makeJail(build, disk),
        say: (line, step) => log('info', line, step),
      },
      base,
    )
    try {
      build.settings = settings
      if (spec.startCommand !== undefined) build.startCommand = spec.startCommand
      if (spec.readyCommand !== undefined) build.readyCommand = spec.readyCommand
      await tryService(new Machine(jail, settings), build, settings)
      return await disks.take(jail, { durable: true })
    } finally {
      await jail.kill()
    }
  }

  /** Nothing removes the disk as long as the jail lives. */
  async #makeJail({ memoryMB, cpuCount }: Build, disk: string | undefined): Promise<Jail> {
    const { disks, makeJail, jails } = this.#host
    const limits = { memoryBytes: memoryMB * 2 ** 20, cpus: cpuCount, processes: 4096 }
    disks.hold(disk)
    try {
      const base = disks.base(disk)
      const jail = await makeJail({ directory: jails, base, network: 'egress', limits })
      // What cannot be removed then is removed when the next server starts.
      jail.ended.then(() => disks.release(disk)).catch(() => undefined)
      return jail
    } catch (error) {
      await disks.release(disk)
      throw error
    }
  }

  async #base(
    spec: BuildSpec,
    log: Log,
  ): Promise<{ disk: string | undefined; settings: MachineSettings }> {
    const say = (line: string): void => log('info', line, 'base')
    if (spec.fromTemplate !== undefined) {
      const { build } = this.#catalog.getReady(spec.fromTemplate)
      return { disk: await this.#system(build, say), settings: build.settings }
    }
    const image = spec.fromImage ?? ''
    if (this.#catalog.isHostSystem(image)) return { disk: undefined, settings: defaultSettings }
    return { disk: await this.#host.bases.open(image, say), settings: defaultSettings }
  }

  /** The disk that a sandbox of this build starts from. */
  async #system({ disk, image }: Build, say: (line: string) => void): Promise<string | undefined> {
    return image === undefined ? disk : this.#host.bases.open(image, say)
  }
}

/** A start command that does not come up is a fault of the template, better found now than in every sandbox. */
async function tryService(
  machine: Machine,
  build: Build,
  settings: MachineSettings,
): Promise<void> {
  try {
    const { startCommand, readyCommand } = build
    await startService(machine, { startCommand, readyCommand, settings })
  } catch (error) {
    throw new StepError('finalize', error instanceof Error ? error.message : String(error))
  }
}
