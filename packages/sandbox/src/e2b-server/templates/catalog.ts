import { randomBytes, randomUUID } from 'node:crypto'
import { builtInImages } from '../../bases/images.ts'
import { interpreterCommands } from '../../bases/interpreter-program.ts'
import { ApiError, notFound } from '../api-error.ts'
import { RecordStore } from '../store.ts'
import {
  type Build,
  defaultSettings,
  defaultSize,
  defaultTag,
  parseReference,
  type Template,
} from '../template.ts'

/** All templates and snapshots, by id and by name. */
export class Catalog {
  readonly #store: RecordStore<Template>
  readonly #templates = new Map<string, Template>()

  private constructor(store: RecordStore<Template>) {
    this.#store = store
  }

  /** With `hostSystem`, `base` is the system of this machine. */
  static async open(
    directory: string,
    { hostSystem }: { readonly hostSystem: boolean },
  ): Promise<Catalog> {
    const store = await RecordStore.open<Template>(directory)
    const catalog = new Catalog(store)
    for (const name of Object.keys(builtInImages))
      catalog.#templates.set(name, builtIn(name, hostSystem && name === 'base'))
    for (const template of await store.all()) {
      // What was being built when a server ended will not go on.
      for (const build of Object.values(template.builds))
        if (build.status === 'building' || build.status === 'waiting') {
          build.status = 'error'
          build.reason = { message: 'the server was stopped during the build; build it again' }
        }
      catalog.#templates.set(template.id, template)
    }
    return catalog
  }

  all(): Template[] {
    return [...this.#templates.values()]
  }

  /** By id or name, with or without a tag. */
  find(text: string): Template | undefined {
    const reference = parseReference(text)
    if (reference === undefined) return undefined
    const byId = this.#templates.get(reference.name)
    return byId ?? this.all().find(({ names }) => names.includes(reference.name))
  }

  get(text: string): Template {
    const found = this.find(text)
    if (found === undefined) throw notFound(`template '${text}'`)
    return found
  }

  /** What a sandbox of this name is started from. */
  getReady(text: string): { readonly template: Template; readonly build: Build } {
    const template = this.get(text)
    const tag = parseReference(text)?.tag ?? defaultTag
    const build = template.builds[template.tags[tag] ?? tag]
    if (build === undefined) throw notFound(`tag '${tag}' of template '${text}'`)
    if (build.status !== 'ready')
      throw new ApiError(400, `the build ${build.id} of template '${text}' is ${build.status}`)
    return { template, build }
  }

  isBuiltIn({ id }: Template): boolean {
    return Object.hasOwn(builtInImages, id)
  }

  /** Whether an image of E2B's own is the system of this machine. */
  isHostSystem(image: string): boolean {
    const base = this.getReady('base').build
    return base.image === undefined && /^e2b(?:dev)?\/base(?::|$)/.test(image)
  }

  async add(names: readonly string[], snapshotOf?: string): Promise<Template> {
    const template: Template = {
      id: randomBytes(10).toString('hex'),
      createdAt: new Date().toISOString(),
      names: [...names],
      builds: {},
      tags: {},
      ...(snapshotOf === undefined ? {} : { snapshotOf }),
    }
    this.#templates.set(template.id, template)
    await this.save(template)
    return template
  }

  async save(template: Template): Promise<void> {
    if (!this.isBuiltIn(template)) await this.#store.put(template.id, template)
  }

  /** Builds that no tag means any more; gives their disks. */
  forgetUntagged(template: Template): string[] {
    const tagged = new Set(Object.values(template.tags))
    const over = Object.values(template.builds).filter(
      ({ id, status }) => status === 'ready' && !tagged.has(id),
    )
    for (const { id } of over) delete template.builds[id]
    return over.flatMap(({ disk }) => disk ?? [])
  }

  /** Returns the disks that no new sandbox needs now. */
  async remove(template: Template): Promise<string[]> {
    if (this.isBuiltIn(template))
      throw new ApiError(400, `${template.id} is part of the server and cannot be removed`)
    this.#templates.delete(template.id)
    await this.#store.delete(template.id)
    return Object.values(template.builds).flatMap(({ disk }) => disk ?? [])
  }
}

export function newBuild(size: { cpuCount?: number; memoryMB?: number } = {}): Build {
  return {
    id: randomUUID(),
    createdAt: new Date().toISOString(),
    cpuCount: size.cpuCount ?? defaultSize.cpuCount,
    memoryMB: size.memoryMB ?? defaultSize.memoryMB,
    status: 'waiting',
    settings: defaultSettings,
  }
}

function builtIn(name: string, isHost: boolean): Template {
  const build: Build = {
    ...newBuild(),
    status: 'ready',
    ...(isHost ? {} : { image: name }),
    ...(name === 'code-interpreter-v1' ? interpreterCommands : {}),
  }
  return {
    id: name,
    createdAt: build.createdAt,
    names: [name],
    builds: { [build.id]: build },
    tags: { [defaultTag]: build.id },
  }
}
