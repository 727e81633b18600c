import type { BranchId, CheckpointId } from '@cairn/protocol'
import {
  type CheckpointLabel,
  cursorOf,
  type LayerFilter,
  type LayerRecord,
  type LayerStore,
  type Settings,
  tagText,
} from '../ports/layer-store.ts'

export class MemoryLayerStore implements LayerStore {
  readonly #layers = new Map<string, LayerRecord>()
  readonly #deleted = new Set<string>()
  readonly #labels = new Map<string, CheckpointLabel>()
  readonly #answers = new Map<string, string>()
  readonly #settings = new Map<string, Settings>()

  async create(record: LayerRecord): Promise<boolean> {
    const key = keyOf(record.workspace, record.id)
    const { workspace, parent } = record
    if (parent !== 'main' && !this.#layers.has(keyOf(workspace, parent))) return false
    if (this.#layers.has(key) || this.#deleted.has(key) || this.#isTaken(record)) return false
    this.#layers.set(key, record)
    return true
  }

  async find(workspace: string, id: string): Promise<LayerRecord | undefined> {
    return this.#layers.get(keyOf(workspace, id))
  }

  async findByBranch(branch: BranchId): Promise<LayerRecord | undefined> {
    return [...this.#layers.values()].find((record) => record.branch === branch)
  }

  async findByName(workspace: string, name: string): Promise<LayerRecord | undefined> {
    return this.#of(workspace).find((record) => record.name === name)
  }

  async list(
    workspace: string,
    { tag, state, parent }: LayerFilter,
    after: string | undefined,
    limit: number,
  ): Promise<readonly LayerRecord[]> {
    return this.#of(workspace)
      .filter(({ tags }) => tag === undefined || tagTexts(tags).includes(tag))
      .filter((record) => state === undefined || record.state === state)
      .filter((record) => parent === undefined || record.parent === parent)
      .filter((record) => after === undefined || cursorOf(record) > after)
      .sort((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1))
      .slice(0, limit)
  }

  async update(record: LayerRecord): Promise<boolean> {
    const key = keyOf(record.workspace, record.id)
    const before = this.#layers.get(key)
    if (before?.version !== record.version - 1 || this.#isTaken(record)) return false
    this.#layers.set(key, record)
    return true
  }

  async remove(workspace: string, id: string): Promise<boolean> {
    if (this.#of(workspace).some(({ parent }) => parent === id)) return false
    this.#deleted.add(keyOf(workspace, id))
    const record = this.#layers.get(keyOf(workspace, id))
    for (const [key, label] of this.#labels)
      if (label.branch === record?.branch) this.#labels.delete(key)
    return this.#layers.delete(keyOf(workspace, id))
  }

  async putLabel(label: CheckpointLabel): Promise<void> {
    this.#labels.set(keyOf(label.branch, label.id), label)
  }

  async listLabels(branch: BranchId): Promise<readonly CheckpointLabel[]> {
    return [...this.#labels.values()].filter((label) => label.branch === branch).sort(byId)
  }

  async findLabels(workspace: string, label: string): Promise<readonly CheckpointLabel[]> {
    const all = [...this.#labels.values()]
    return all.filter((each) => each.workspace === workspace && each.label === label).sort(byId)
  }

  async removeLabel(branch: BranchId, id: CheckpointId): Promise<boolean> {
    return this.#labels.delete(keyOf(branch, id))
  }

  async findSettings(workspace: string, layer: string): Promise<Settings> {
    return this.#settings.get(keyOf(workspace, layer)) ?? {}
  }

  async putSettings(workspace: string, layer: string, settings: Settings): Promise<void> {
    this.#settings.set(keyOf(workspace, layer), settings)
  }

  async findAnswer(workspace: string, request: string): Promise<string | undefined> {
    return this.#answers.get(keyOf(workspace, request))
  }

  async putAnswer(workspace: string, request: string, answer: string): Promise<void> {
    const key = keyOf(workspace, request)
    if (!this.#answers.has(key)) this.#answers.set(key, answer)
  }

  #of(workspace: string): LayerRecord[] {
    return [...this.#layers.values()].filter((record) => record.workspace === workspace)
  }

  #isTaken({ workspace, id, name }: LayerRecord): boolean {
    const others = this.#of(workspace).filter((other) => other.id !== id)
    const taken = others.flatMap((other) => [other.id, other.name])
    return taken.includes(id) || (name !== undefined && taken.includes(name))
  }
}

function keyOf(a: string, b: string): string {
  return JSON.stringify([a, b])
}

function tagTexts(tags: LayerRecord['tags']): string[] {
  return Object.entries(tags).map(([key, value]) => tagText(key, value))
}

function byId(a: CheckpointLabel, b: CheckpointLabel): number {
  return `${a.branch} ${a.id}` < `${b.branch} ${b.id}` ? -1 : 1
}
