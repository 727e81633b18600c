import type { Branch, Data, Op } from '@cairn/core'
import { CairnError, type Hash } from '@cairn/protocol'
import type { SessionScope } from '../access/session-scope.ts'
import type { Quotas } from '../workspaces/quotas.ts'

/** What programs write at once beside what was acknowledged: a mount asks the server about it when its room is short. */
const spareBytes = 16 << 20

/**
 * Content that a session has stored and written nothing from yet. A mount that recovers stores all that it
 * acknowledged before it writes the first byte of it, so as much is allowed as it can ever have been told to
 * acknowledge: the whole budget, the whole quota.
 */
export class UnusedContent {
  readonly #branch: Branch
  readonly #quotas: Quotas
  readonly #scope: SessionScope | undefined
  readonly #bytes = new Map<Hash, number>()
  #sum = 0

  constructor(branch: Branch, quotas: Quotas, scope: SessionScope | undefined) {
    this.#branch = branch
    this.#quotas = quotas
    this.#scope = scope
  }

  /** Throws `quota_exceeded` before anything is stored. */
  async store(bytes: number, store: () => Promise<Data | undefined>): Promise<Data | undefined> {
    const most = (await this.#most()) + spareBytes
    if (most === Infinity) return store()
    if (this.#sum + bytes > most)
      throw new CairnError('quota_exceeded', {
        what: `store ${bytes} bytes more`,
        reason: `the session may have ${most} that it has not written from`,
      })
    // Counted first: others are on their way at the same time.
    this.#sum += bytes
    let data: Data | undefined
    try {
      data = await store()
    } finally {
      if (data?.type !== 'blob' || this.#bytes.has(data.id)) this.#sum -= bytes
      else this.#bytes.set(data.id, bytes)
    }
    return data
  }

  /** Taken or refused: the session has said what it is for. */
  use(ops: readonly Op[]): void {
    for (const op of ops) {
      if (!('data' in op) || op.data.type !== 'blob') continue
      this.#sum -= this.#bytes.get(op.data.id) ?? 0
      this.#bytes.delete(op.data.id)
    }
  }

  async #most(): Promise<number> {
    const limits = await this.#quotas.limitsOf(this.#branch)
    const used = limits ? (await this.#branch.head.usage()).bytes : 0
    // A tree may be larger than a quota that was lowered.
    const byQuota = limits ? Math.max(limits.bytes, used) : Infinity
    return Math.min(byQuota, this.#scope?.grant.maxBytes ?? Infinity)
  }
}
