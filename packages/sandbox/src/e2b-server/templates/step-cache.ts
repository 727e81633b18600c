import { createHash } from 'node:crypto'
import type { MachineSettings } from '../envd/machine.ts'
import { RecordStore } from '../store.ts'
import type { BuildStep } from './build-spec.ts'

/** A disk as it was after a step of some build. */
export interface KeptStep {
  readonly key: string
  readonly disk: string
  /** What holds for the steps that follow. */
  readonly settings: MachineSettings
  usedAt: number
}

/** The oldest goes when one more is kept. Kept disks share what they have in common. */
const keptMax = 32

/** The key of what a build starts from. */
export function startKey(disk: string | undefined, settings: MachineSettings): string {
  return hashOf([disk ?? 'host', settings])
}

/** A step made the same disk before if the step and everything before it are the same. */
export function nextKey(before: string, { type, args, filesHash }: BuildStep): string {
  return hashOf([before, type, args, filesHash ?? null])
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

/** What slow steps of builds made, so that the next build need not run them again. */
export class StepCache {
  readonly #store: RecordStore<KeptStep>
  readonly #kept: Map<string, KeptStep>

  private constructor(store: RecordStore<KeptStep>, kept: readonly KeptStep[]) {
    this.#store = store
    this.#kept = new Map(kept.map((step) => [step.key, step]))
  }

  static async open(directory: string): Promise<StepCache> {
    const store = await RecordStore.open<KeptStep>(directory)
    return new StepCache(store, await store.all())
  }

  disks(): string[] {
    return [...this.#kept.values()].map(({ disk }) => disk)
  }

  find(key: string): KeptStep | undefined {
    const found = this.#kept.get(key)
    if (found !== undefined) found.usedAt = Date.now()
    return found
  }

  /** Gives the disks that are not needed any more. */
  async keep(key: string, disk: string, settings: MachineSettings): Promise<string[]> {
    const replaced = this.#kept.get(key)
    const step = { key, disk, settings, usedAt: Date.now() }
    this.#kept.set(key, step)
    await this.#store.put(key, step)
    const over = this.#unused()
    for (const each of over) {
      this.#kept.delete(each.key)
      await this.#store.delete(each.key)
    }
    return [...over, ...(replaced === undefined ? [] : [replaced])].map((each) => each.disk)
  }

  #unused(): KeptStep[] {
    const byUse = [...this.#kept.values()].toSorted((a, b) => b.usedAt - a.usedAt)
    return byUse.slice(keptMax)
  }
}
