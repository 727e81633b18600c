import type { ApiErrorBody, LayerStatus } from '@cairn/protocol'
import { type Answer, memoryServers, type MemoryServer } from '@cairn/server/testing'
import type { Chance } from '../model/chance.ts'
import { type Layer, Model, type Outcome } from './model.ts'
import type { Memory, Operation } from './operations.ts'
import { Turns } from './turns.ts'

export interface Conditions {
  /** Both operations on one layer, or on a parent and its child. */
  readonly family: boolean
  /** The layer and its parent have changed the same file. */
  readonly conflicted: boolean
}

const paths = ['a', 'both', 'mine', 'more', 'theirs', 'other', 'late'].map(
  (name) => `/repo/${name}`,
)

/** Starting a server takes longer than a race: all worlds share theirs, each with a workspace of its own. */
export class Servers {
  readonly turns: Turns = new Turns()
  readonly #all = memoryServers(undefined, (store) => this.turns.around(store))
  readonly doors: readonly MemoryServer[] = [this.#all.open(), this.#all.open()]
  /** Sees a workspace only when its race is over. */
  readonly witness: MemoryServer = this.#all.open()
}

/** A workspace with a few layers, and the model of it. */
export class World {
  readonly #servers: Servers
  readonly #url: string
  readonly #model = new Model()

  constructor(servers: Servers, name: string) {
    this.#servers = servers
    this.#url = `/${name}`
  }

  /** `layer` stands on `parent`, `sibling` beside it, and `parent` has changed since. */
  async fill({ family, conflicted }: Conditions): Promise<void> {
    const name = this.#url.slice(1)
    await this.#servers.doors[0]!.call('POST', '', { name })
    for (const name of ['a', 'both']) await this.#write('main', name, 'first')
    const parent = family ? 'parent' : 'main'
    if (family) {
      await this.#create('parent', 'main')
      await this.#write('parent', 'other', 'of the parent')
      await this.#checkpoint('parent')
    }
    for (const name of ['layer', 'sibling', 'before']) await this.#create(name, parent)
    await this.#write('layer', 'mine', 'of the layer')
    await this.#checkpoint('layer')
    await this.#write('layer', 'more', 'of the layer')
    await this.#write('before', 'theirs', 'of another layer')
    if (conflicted) await this.#write('layer', 'both', 'of the layer')
    if (conflicted) await this.#write('before', 'both', 'of another layer')
    await this.#send('POST', '/layers/before/commit', {})
    const before = this.#model.layers.get('before')!
    const { base } = before
    this.#model.land(before)
    Object.assign(before, { state: 'committed', base })
  }

  /** All that may come of the operations, if each of their steps happens at once. */
  possible(operations: readonly Operation[]): ReadonlySet<string> {
    const ends = new Set<string>()
    const play = (model: Model, lines: readonly Progress[]): void => {
      if (lines.every(({ outcome }) => outcome !== undefined))
        ends.add(
          JSON.stringify({ answers: lines.map(({ outcome }) => outcome), ...describe(model) }),
        )
      for (const [index, line] of lines.entries()) {
        if (line.outcome !== undefined) continue
        const [after, memory] = [model.copy(), { ...line.memory }]
        const outcome = line.steps[0]!(after, memory)
        const next = { memory, outcome, steps: line.steps.slice(1) }
        play(after, lines.with(index, next))
      }
    }
    play(
      this.#model,
      operations.map(({ steps }) => ({ steps, memory: {}, outcome: undefined })),
    )
    return ends
  }

  /** Starts the operations together. Gives what came of them, as a server sees it that knows nothing yet. */
  async race(chance: Chance, apart: boolean, operations: readonly Operation[]): Promise<string> {
    const { turns, doors } = this.#servers
    const requests = operations.map(({ method, url, body }, index) => {
      const door = doors[apart ? index : 0]!
      return () => door.call<ApiErrorBody>(method, `${this.#url}${url}`, body)
    })
    const answers = await turns.race(chance, requests)
    return JSON.stringify({ answers: answers.map(outcomeOf), ...(await this.#look()) })
  }

  async #look(): Promise<Described> {
    const described: Described = { main: { files: await this.#files('main') }, layers: {} }
    for (const name of layerNames) {
      const { status, json } = await this.#status(name)
      if (status === 404) continue
      const changes = json.changes.filter(({ fileKind }) => fileKind !== 'directory')
      described.layers[name] = {
        files: await this.#files(name),
        state: json.state,
        parent: json.parent === 'main' ? 'main' : await this.#nameOf(json.parent),
        changes: changes.map(({ path }) => path).sort(),
      }
    }
    return described
  }

  async #files(line: string): Promise<Readonly<Record<string, string>>> {
    const files = new Map<string, string>()
    for (const path of paths) {
      const url = `${this.#url}/files${path}?layer=${line}`
      const { status, body } = await this.#servers.witness.call('GET', url)
      if (status === 200) files.set(path, body)
    }
    return sorted(files)
  }

  #status(layer: string): Promise<Answer<LayerStatus>> {
    return this.#servers.witness.call<LayerStatus>('GET', `${this.#url}/layers/${layer}`)
  }

  async #nameOf(id: string): Promise<string> {
    const { json, status } = await this.#status(id)
    return status === 404 ? 'gone' : json.name!
  }

  async #create(name: string, parent: string): Promise<void> {
    await this.#send('POST', '/layers', { name, parent, path: '/repo' })
    this.#model.create(name, parent)
  }

  async #write(line: string, name: string, text: string): Promise<void> {
    await this.#send('PUT', `/files/repo/${name}?layer=${line}`, text)
    this.#model.write(line, `/repo/${name}`, text)
  }

  async #checkpoint(name: string): Promise<void> {
    await this.#send('POST', `/layers/${name}/checkpoints`, { label: 'cp' })
    const layer = this.#model.layers.get(name)!
    layer.checkpoint = layer.files
  }

  async #send(method: 'POST' | 'PUT', url: string, body: object | string): Promise<void> {
    const answer = await this.#servers.doors[0]!.call<ApiErrorBody>(
      method,
      `${this.#url}${url}`,
      body,
    )
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.body}`)
  }
}

interface Progress {
  readonly steps: Operation['steps']
  readonly memory: Memory
  readonly outcome: Outcome | undefined
}

interface Described {
  readonly main: { readonly files: Readonly<Record<string, string>> }
  readonly layers: Record<
    string,
    {
      readonly files: Readonly<Record<string, string>>
      readonly state: string
      readonly parent: string
      readonly changes: readonly string[]
    }
  >
}

const layerNames = ['parent', 'layer', 'sibling', 'before', 'fork']

function describe(model: Model): Described {
  const described: Described = { main: { files: sorted(model.main.files) }, layers: {} }
  for (const name of layerNames) {
    const layer = model.layers.get(name)
    if (!layer) continue
    const { files, state, parent } = layer
    described.layers[name] = { files: sorted(files), state, parent, changes: changesOf(layer) }
  }
  return described
}

function changesOf({ base, files }: Layer): readonly string[] {
  return paths.filter((path) => base.get(path) !== files.get(path)).sort()
}

function sorted(files: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const known = paths.filter((path) => files.has(path))
  return Object.fromEntries(known.map((path) => [path, files.get(path)!]))
}

function outcomeOf({ status, json, body }: Answer<ApiErrorBody>): Outcome {
  if (status < 300) return 'ok'
  return json?.error.code ?? body
}
