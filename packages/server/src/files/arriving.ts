/** Bytes that are on their way into a workspace at this server, by what they will count against: a branch, a token. */
export class Arriving {
  readonly #bytes = new Map<string, number>()

  of(what: string): number {
    return this.#bytes.get(what) ?? 0
  }

  add(what: string, bytes: number): void {
    const sum = this.of(what) + bytes
    if (sum > 0) this.#bytes.set(what, sum)
    else this.#bytes.delete(what)
  }
}
