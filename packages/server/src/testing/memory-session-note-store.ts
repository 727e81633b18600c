import type { BranchId, SessionId } from '@cairn/protocol'
import type { SessionHold, SessionNote, SessionNoteStore } from '../ports/session-note-store.ts'

export class MemorySessionNoteStore implements SessionNoteStore {
  readonly #branches = new Map<BranchId, Map<SessionId, SessionNote>>()
  readonly #holds = new Map<BranchId, readonly SessionHold[]>()

  async list(branch: BranchId): Promise<readonly SessionNote[]> {
    return [...this.#of(branch).values()]
  }

  async put(branch: BranchId, note: Omit<SessionNote, 'seen' | 'asked'>): Promise<void> {
    this.#of(branch).set(note.session, { ...note, seen: 0, asked: 0 })
  }

  async remove(branch: BranchId, session: SessionId, server: string): Promise<void> {
    if (this.#of(branch).get(session)?.server === server) this.#of(branch).delete(session)
  }

  async ask(branch: BranchId, session: SessionId, seq: number): Promise<void> {
    this.#change(branch, session, (note) => ({ ...note, asked: Math.max(note.asked, seq) }))
  }

  async tell(branch: BranchId, session: SessionId, seq: number): Promise<void> {
    this.#change(branch, session, (note) => ({ ...note, seen: Math.max(note.seen, seq) }))
  }

  async hold(branch: BranchId, hold: SessionHold): Promise<void> {
    const others = (await this.listHolds(branch)).filter(({ session }) => session !== hold.session)
    this.#holds.set(branch, hold.inos.length > 0 ? [...others, hold] : others)
  }

  async listHolds(branch: BranchId): Promise<readonly SessionHold[]> {
    return this.#holds.get(branch) ?? []
  }

  #change(branch: BranchId, session: SessionId, change: (note: SessionNote) => SessionNote): void {
    const note = this.#of(branch).get(session)
    if (note) this.#of(branch).set(session, change(note))
  }

  #of(branch: BranchId): Map<SessionId, SessionNote> {
    let notes = this.#branches.get(branch)
    if (!notes) this.#branches.set(branch, (notes = new Map()))
    return notes
  }
}
