import type { BranchId, Ino, Trace } from '@cairn/protocol'
import type { TraceStore } from '../ports/trace-store.ts'

const rootsMax = 16

export class MemoryTraceStore implements TraceStore {
  readonly #traces = new Map<string, Trace>()

  async find(branch: BranchId, root: Ino): Promise<Trace> {
    return this.#traces.get(`${branch} ${root}`) ?? []
  }

  async put(branch: BranchId, root: Ino, trace: Trace): Promise<void> {
    // The newest is the last.
    this.#traces.delete(`${branch} ${root}`)
    this.#traces.set(`${branch} ${root}`, trace)
    const own = [...this.#traces.keys()].filter((key) => key.startsWith(`${branch} `))
    for (const key of own.slice(0, -rootsMax)) this.#traces.delete(key)
  }
}
