import type { BranchId } from '@cairn/protocol'
import type { HolderNote, LeaseRecord, LeaseStore } from '../ports/lease-store.ts'

export class MemoryLeaseStore implements LeaseStore {
  readonly #records = new Map<BranchId, LeaseRecord>()
  readonly #notes = new Map<string, { holder: string; note: HolderNote; notedMs: number }>()

  async get(branch: BranchId): Promise<LeaseRecord | undefined> {
    return this.#records.get(branch)
  }

  async put(record: LeaseRecord): Promise<boolean> {
    if ((this.#records.get(record.branch)?.version ?? 0) !== record.version - 1) return false
    this.#records.set(record.branch, record)
    return true
  }

  async addNotes(holder: string, notes: readonly HolderNote[], nowMs: number): Promise<void> {
    for (const note of notes) {
      const key = JSON.stringify([holder, note.kind, note.value])
      if (!this.#notes.has(key)) this.#notes.set(key, { holder, note, notedMs: nowMs })
    }
  }

  async listNotes(holder: string): Promise<readonly HolderNote[]> {
    return [...this.#notes.values()]
      .filter((noted) => noted.holder === holder || noted.holder.startsWith(`${holder}~`))
      .map(({ note }) => note)
  }

  async findNotes(
    holders: readonly string[],
    kind: HolderNote['kind'],
    values: readonly string[],
  ): Promise<readonly string[]> {
    const isNoted = (value: string): boolean =>
      holders.some((holder) => this.#notes.has(JSON.stringify([holder, kind, value])))
    return values.filter(isNoted)
  }

  async listHolders(after: string, limit: number): Promise<readonly string[]> {
    const holders = new Set([...this.#notes.values()].map(({ holder }) => holder))
    return [...holders]
      .sort()
      .filter((holder) => holder > after)
      .slice(0, limit)
  }

  async removeNotes(holder: string): Promise<void> {
    for (const [key, noted] of this.#notes) if (noted.holder === holder) this.#notes.delete(key)
  }

  async removeBlobNotes(beforeMs: number): Promise<void> {
    for (const [key, { note, notedMs }] of this.#notes)
      if (note.kind === 'blob' && notedMs < beforeMs) this.#notes.delete(key)
  }
}
