/** The followers of a journal on this server. */
export class Listeners {
  readonly #byJournal = new Map<string, Set<() => void>>()

  /** Gives what ends it. */
  subscribe(workspace: string, journal: string, listener: () => void): () => void {
    const key = `${workspace}/${journal}`
    const listeners = this.#byJournal.get(key) ?? new Set()
    this.#byJournal.set(key, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#byJournal.delete(key)
    }
  }

  ring(workspace: string, journal: string): void {
    for (const listener of this.#byJournal.get(`${workspace}/${journal}`) ?? []) listener()
  }
}
