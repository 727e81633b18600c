/** What has to be undone, whatever happens: the newest first. */
export class Cleanups {
  readonly #list: (() => Promise<void>)[] = []

  add(undo: () => Promise<void>): void {
    this.#list.push(undo)
  }

  /** Does all of it, also where one fails; then rejects with the first failure. */
  async run(): Promise<void> {
    const failures: unknown[] = []
    for (let undo = this.#list.pop(); undo; undo = this.#list.pop())
      await undo().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
}
